import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Condition, countedEnd, edgeStateFor } from '../../src/core/dag/conditions.ts';
import { moveEdge, sumEdges } from '../../src/core/dag/edge-counters.ts';
import { judgeEdges } from '../../src/core/dag/judge.ts';
import type { TerminalStatus } from '../../src/core/job.ts';

test('conditions: what each end of a parent satisfies', () => {
  const held = (end: TerminalStatus): Condition[] =>
    (['success', 'failure', 'ended'] as const).filter((condition) => edgeStateFor(condition, end) === 'held');
  assert.deepEqual(held('done'), ['success', 'ended']);
  assert.deepEqual(held('failed'), ['failure', 'ended']);
  assert.deepEqual(held('cancelled'), ['ended']);
  assert.deepEqual(held('skipped'), ['ended']);
});

test('conditions: the failure of a step that may fail counts as success, no other end does', () => {
  assert.equal(countedEnd('failed', true), 'done');
  assert.equal(countedEnd('failed', false), 'failed');
  assert.equal(countedEnd('cancelled', true), 'cancelled');
  assert.equal(countedEnd('skipped', true), 'skipped');
});

function judged(mode: 'each' | 'together', edges: readonly [Condition, TerminalStatus | 'open'][]) {
  const states = edges.map(([condition, end]) => {
    return { condition, state: edgeStateFor(condition, end === 'open' ? null : end) };
  });
  return judgeEdges(sumEdges(states), mode);
}

test('judge: a job is freed when every edge holds, and not before', () => {
  assert.equal(judged('each', []), 'free');
  assert.equal(
    judged('each', [
      ['success', 'done'],
      ['failure', 'failed'],
      ['ended', 'skipped'],
    ]),
    'free',
  );
  assert.equal(
    judged('each', [
      ['success', 'done'],
      ['success', 'open'],
    ]),
    'wait',
  );
});

test('judge: the first edge of a job that cannot hold decides, while other parents still run', () => {
  for (const end of ['failed', 'cancelled', 'skipped'] as const) {
    assert.deepEqual(
      judged('each', [
        ['success', end],
        ['success', 'open'],
      ]),
      { skip: 'upstream_failed' },
    );
  }
  for (const end of ['done', 'cancelled', 'skipped'] as const) {
    assert.deepEqual(
      judged('each', [
        ['failure', end],
        ['success', 'open'],
      ]),
      { skip: 'condition' },
    );
  }
  assert.deepEqual(
    judged('each', [
      ['failure', 'done'],
      ['failure', 'failed'],
    ]),
    { skip: 'condition' },
  );
});

test('judge: a step waits for all of its parents, then judges them together', () => {
  for (const condition of ['success', 'failure', 'ended'] as const) {
    assert.equal(
      judged('together', [
        [condition, 'failed'],
        [condition, 'open'],
      ]),
      'wait',
    );
  }
  assert.equal(
    judged('together', [
      ['success', 'done'],
      ['success', 'done'],
    ]),
    'free',
  );
  assert.deepEqual(
    judged('together', [
      ['success', 'done'],
      ['success', 'skipped'],
    ]),
    { skip: 'upstream_failed' },
  );
  assert.equal(
    judged('together', [
      ['failure', 'done'],
      ['failure', 'failed'],
    ]),
    'free',
  );
  assert.deepEqual(
    judged('together', [
      ['failure', 'done'],
      ['failure', 'cancelled'],
    ]),
    { skip: 'condition' },
  );
  assert.equal(
    judged('together', [
      ['ended', 'failed'],
      ['ended', 'cancelled'],
    ]),
    'free',
  );
});

test('judge: reopening an edge undoes its closing, whatever it was', () => {
  for (const condition of ['success', 'failure', 'ended'] as const) {
    for (const end of ['done', 'failed', 'cancelled', 'skipped'] as const) {
      const before = { open: 3, held: 2, broken: 1, missed: 4 };
      const state = edgeStateFor(condition, end);
      const closed = moveEdge(before, condition, ['open', state]);
      assert.notDeepEqual(closed, before);
      assert.deepEqual(moveEdge(closed, condition, [state, 'open']), before);
    }
  }
});
