import assert from 'node:assert/strict';
import { test } from 'node:test';
import { historyOf, MAX_HISTORY_PARENTS } from '../../src/core/history.ts';
import type { Job } from '../../src/core/job.ts';

test('history: says how many parents it does not list', () => {
  const job = (parents: number) =>
    ({
      queue: 'q',
      status: 'blocked',
      createdAt: 1,
      tick: null,
      rerunOf: null,
      workflowId: null,
      cancelRequestedAt: null,
      dependsOn: Array.from({ length: parents }, (_, index) => ({ jobId: index + 1, condition: 'success' })),
    }) as unknown as Job;
  const textOf = (parents: number) => historyOf(job(parents), [], [])[0]?.text;
  assert.equal(textOf(MAX_HISTORY_PARENTS), 'submitted to queue q');
  assert.equal(textOf(MAX_HISTORY_PARENTS + 2), 'submitted to queue q; the ends of 2 parents are not listed');
});
