import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { criticalPath, type TimedStep } from '../../src/core/dag/critical-path.ts';
import { endStep, openSteps, reopenStep, type StepEnd, workflowStatus } from '../../src/core/dag/workflow-status.ts';
import { TERMINAL_STATUSES } from '../../src/core/job.ts';

function statusAfter(steps: number, ends: readonly (StepEnd['status'] | 'tolerated')[], started = false) {
  let counts = openSteps(steps);
  for (const end of ends) {
    counts = endStep(counts, { status: end === 'tolerated' ? 'failed' : end, continueOnFailure: end === 'tolerated' });
  }
  return workflowStatus(counts, started);
}

test('workflow status: pending until a step has started or ended, running until all have ended', () => {
  assert.equal(statusAfter(2, []), 'pending');
  assert.equal(statusAfter(2, [], true), 'running');
  assert.equal(statusAfter(2, ['done']), 'running');
  assert.equal(statusAfter(2, ['failed']), 'running');
});

test('workflow status: failed if a step failed that may not, else cancelled if one was, else done', () => {
  assert.equal(statusAfter(2, ['done', 'skipped']), 'done');
  assert.equal(statusAfter(2, ['done', 'tolerated']), 'done');
  assert.equal(statusAfter(2, ['cancelled', 'done']), 'cancelled');
  assert.equal(statusAfter(3, ['cancelled', 'failed', 'tolerated']), 'failed');
});

test('workflow status: reopening a step undoes its end', () => {
  const end = fc.record({ status: fc.constantFrom(...TERMINAL_STATUSES), continueOnFailure: fc.boolean() });
  fc.assert(
    fc.property(fc.array(end, { maxLength: 8 }), end, (ends, retried) => {
      const before = ends.reduce(endStep, openSteps(9));
      assert.deepEqual(reopenStep(endStep(before, retried), retried), before);
    }),
  );
});

const step = (parents: number[], startedAt: number | null, endedAt: number | null): TimedStep => ({
  parents,
  startedAt,
  endedAt,
});

test('critical path: back from the last end, each time to the parent that ended last', () => {
  const steps = [step([], 0, 10), step([], 0, 30), step([0], 10, 25), step([1, 2], 30, 40), step([0], 10, 12)];
  assert.deepEqual(criticalPath(steps), [1, 3]);
});

test('critical path: what still runs is later than what has ended; what has not started is no end', () => {
  const steps = [step([], 0, 10), step([0], 10, 90), step([0], 11, null), step([1, 2], null, null)];
  assert.deepEqual(criticalPath(steps), [0, 2]);
});

test('critical path: goes through a skipped step, but does not end in one', () => {
  const steps = [step([], 0, 10), step([0], null, 10), step([1], 11, 20), step([2], null, 20)];
  assert.deepEqual(criticalPath(steps), [0, 1, 2]);
});

test('critical path: a parent that ended after its child began is not on it', () => {
  const steps = [step([], 0, 90), step([], 0, 10), step([0, 1], 11, 20), step([0], 12, 15)];
  assert.deepEqual(criticalPath([...steps.slice(0, 3), step([2], 100, 110)]), [1, 2, 3]);
  assert.deepEqual(criticalPath([step([], 0, null), step([0], 11, 20), step([1], 21, null)]), [1, 2]);
});

test('critical path: nothing where nothing has started; a chain of 100,000 is no matter', () => {
  assert.deepEqual(criticalPath([step([], null, null)]), []);
  const chain = Array.from({ length: 100_000 }, (_, place) => step(place === 0 ? [] : [place - 1], place, place + 1));
  assert.equal(criticalPath(chain).length, 100_000);
});
