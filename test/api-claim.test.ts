import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ClaimedJob, claimedJobFromWire, claimedJobToWire } from '../src/api/claim.ts';
import { DEFAULT_SPEC, type ClaimedJob as DomainClaimedJob } from '../src/core/job.ts';

const JOB: DomainClaimedJob = {
  ...DEFAULT_SPEC,
  command: 'x',
  id: 5,
  attempt: 2,
  failures: 1,
  dueAt: 1_000,
  startedAt: 2_000,
  surroundings: {
    params: { date: 'x', list: [1] },
    item: { value: { a: null }, index: 3 },
    parents: [{ jobId: 4, key: 'k', status: 'skipped', result: null }],
  },
};

test('a claimed job survives the wire with its surroundings', () => {
  const wire = ClaimedJob.parse(JSON.parse(JSON.stringify(claimedJobToWire(JOB))));
  assert.deepEqual(claimedJobFromWire(wire), JOB);
  const alone = { ...JOB, surroundings: null };
  assert.deepEqual(claimedJobFromWire(ClaimedJob.parse(claimedJobToWire(alone))), alone);
});

test('a scheduler that knows nothing of surroundings is understood', () => {
  const { surroundings: _, ...older } = claimedJobToWire(JOB);
  assert.equal(claimedJobFromWire(ClaimedJob.parse(older)).surroundings, null);
});
