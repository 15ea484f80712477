import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Attempt } from '../../src/core/attempt-end.ts';
import { historyOf, MAX_HISTORY_PARENTS } from '../../src/core/history.ts';
import type { Job } from '../../src/core/job.ts';

const JOB = {
  submittedBy: null,
  queue: 'q',
  createdAt: 1,
  tick: null,
  rerunOf: null,
  workflowId: null,
  cancelRequestedAt: null,
};

test('history: a claim that was given back has ended, and never started', () => {
  const job = { ...JOB, status: 'pending', dependsOn: [] } as unknown as Job;
  const common = { jobId: 1, workerId: 7, startedAt: 2, endedAt: 3, exitCode: null, signal: null, error: null };
  const attempts: Attempt[] = [
    { ...common, thrown: null, usage: null, attempt: 1, outcome: 'returned' },
    { ...common, thrown: null, usage: null, attempt: 2, outcome: 'interrupted' },
  ];
  assert.deepEqual(
    historyOf(job, { attempts, parents: [], audit: [] }).map(({ event, attempt }) => [event, attempt]),
    [
      ['submitted', null],
      ['started', 2],
      ['attempt_ended', 1],
      ['attempt_ended', 2],
    ],
  );
});

test('history: events of one instant are in the order in which they can have happened, over all attempts', () => {
  const job = { ...JOB, status: 'running', attempt: 2, workerId: 7, startedAt: 1, cancelRequestedAt: 1, dependsOn: [] };
  const first = { jobId: 1, workerId: 7, startedAt: 1, endedAt: 1, exitCode: 7, signal: null, error: null };
  const attempts: Attempt[] = [{ ...first, thrown: null, usage: null, attempt: 1, outcome: 'failed' }];
  assert.deepEqual(
    historyOf(job as unknown as Job, { attempts, parents: [], audit: [] }).map(({ event }) => event),
    ['submitted', 'started', 'attempt_ended', 'started', 'cancel_requested'],
  );
});

test('history: says how many parents it does not list', () => {
  const job = (parents: number) =>
    ({
      ...JOB,
      status: 'blocked',
      dependsOn: Array.from({ length: parents }, (_, index) => ({ jobId: index + 1, condition: 'success' })),
    }) as unknown as Job;
  const textOf = (parents: number) => historyOf(job(parents), { attempts: [], parents: [], audit: [] })[0]?.text;
  assert.equal(textOf(MAX_HISTORY_PARENTS), 'submitted to queue q');
  assert.equal(textOf(MAX_HISTORY_PARENTS + 2), 'submitted to queue q; the ends of 2 parents are not listed');
});
