import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ClaimedJob, claimedJobsFromWire, claimedJobToWire } from '../../src/api/claim.ts';
import { DEFAULT_SPEC, type ClaimedJob as DomainClaimedJob } from '../../src/core/job.ts';

const JOB: DomainClaimedJob = {
  ...DEFAULT_SPEC,
  command: 'x',
  id: 5,
  attempt: 2,
  failures: 1,
  dueAt: 1_000,
  startedAt: 2_000,
  runContext: {
    workflow: null,
    params: { date: 'x', list: [1] },
    item: { value: { a: null }, index: 3 },
    parents: [{ jobId: 4, key: 'k', status: 'skipped', result: null }],
  },
};

test('a claimed job survives the wire with its runContext', () => {
  const wire = ClaimedJob.parse(JSON.parse(JSON.stringify(claimedJobToWire(JOB))));
  assert.deepEqual(claimedJobsFromWire([wire]), [JOB]);
  const alone = { ...JOB, runContext: null };
  assert.deepEqual(claimedJobsFromWire([ClaimedJob.parse(claimedJobToWire(alone))]), [alone]);
});

test('a scheduler that knows nothing of run_context is understood', () => {
  const { run_context: _, ...older } = claimedJobToWire(JOB);
  assert.equal(claimedJobsFromWire([ClaimedJob.parse(older)])[0]?.runContext, null);
});

test('a result that several jobs share is sent once, where the worker can read that', () => {
  const shared = { jobId: 4, key: 'k', status: 'done' as const, result: { list: ['x'] } };
  const own = { jobId: 6, key: 'l', status: 'failed' as const, result: null };
  const around = (id: number, parents: (typeof shared | typeof own)[]) => {
    return { ...JOB, id, runContext: { workflow: { id: 5, step: 's' }, params: {}, item: null, parents } };
  };
  const jobs = [around(7, [shared]), around(8, [shared, own]), around(9, [own])];
  const sentResults = new Set<number>();
  const wire = jobs.map((job) => ClaimedJob.parse(JSON.parse(JSON.stringify(claimedJobToWire(job, sentResults)))));
  const results = wire.map(({ run_context: runContext }) =>
    runContext?.parents.map((parent) => Object.hasOwn(parent, 'result')),
  );
  assert.deepEqual(results, [[true], [false, true], [false]]);
  assert.deepEqual(claimedJobsFromWire(wire), jobs);
  const older = jobs.map((job) => ClaimedJob.parse(JSON.parse(JSON.stringify(claimedJobToWire(job)))));
  assert.ok(
    older.every(({ run_context: runContext }) =>
      runContext?.parents.every((parent) => Object.hasOwn(parent, 'result')),
    ),
  );
});
