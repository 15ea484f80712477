/** What the contract cannot show of jobs that are handed out with their submit: other processes, and the row itself. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aJob, anOffer } from '../../../contract/kit/builders.ts';
import { claim, claimOne, forever, ids, register, submitOne } from '../../../contract/kit/steps.ts';
import { silentLog } from '../../../src/ops/log.ts';
import { openPostgres } from '../../../src/store/postgres/base/open.ts';
import { openTestPostgres } from '../../kit/postgres.ts';

test('postgres: a job that another process put into a lane of its own is not overtaken', async () => {
  await using given = await openTestPostgres();
  const { store, url, schema } = given;
  await using elsewhere = await openPostgres({ url, schema, log: silentLog });
  await claimOne(store, aJob());
  const { id: workerId } = await register(store);
  assert.deepEqual(await claim(store, workerId), []);

  const urgent = await submitOne(elsewhere, aJob({ queue: 'new', priority: 9 }));
  const request = { workerId, limit: 1, offer: anOffer(), claimSeq: 2 };
  const { claimed } = await store.insertAndClaim([aJob()], request, forever);
  assert.deepEqual(claimed, []);
  // The lanes that a claim knows may be a quarter of a second old; those of a new process are not.
  assert.deepEqual(ids(await claim(elsewhere, workerId, { limit: 1 })), [urgent.id]);
});

test('postgres: the row of a job that was handed out with its submit is that of a claimed one', async () => {
  await using given = await openTestPostgres();
  const { store, schema } = given;
  const wanted = aJob({ priority: 4, startTimeoutMs: 60_000, rerun: 'never' });
  const usual = await claimOne(store, wanted);
  const request = { workerId: usual.workerId, limit: 1, offer: anOffer(), claimSeq: 1 };
  await claim(store, usual.workerId);
  const { claimed } = await store.insertAndClaim([wanted], request, forever);
  const told = `job_id, to_jsonb(l) - 'job_id' - 'due' - 'started_at' - 'expires_at' as rest, started_at is not null as starts,
    expires_at is not null as expires`;
  const rows = await given.query<Told>(`select ${told} from "${schema}".live l order by job_id`);
  const [first, second] = rows;
  assert.ok(first && second);
  assert.deepEqual([Number(first.job_id), Number(second.job_id)], [usual.job.id, ...ids(claimed)]);
  assert.deepEqual({ ...second, job_id: first.job_id }, first);
});

interface Told {
  job_id: string;
  rest: Record<string, unknown>;
  starts: boolean;
  expires: boolean;
}
