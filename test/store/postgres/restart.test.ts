import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aJob, jobs } from '../../../contract/kit/builders.ts';
import { claim, forever, ids, register, submitOne, success } from '../../../contract/kit/steps.ts';
import { isWorkronError } from '../../../src/core/error.ts';
import { eventually } from '../../kit/eventually.ts';
import { openTestPostgres, startPostgres } from '../../kit/postgres.ts';

test('postgres: a server that crashes under load loses nothing it acknowledged, and the store goes on by itself', async () => {
  await using server = await startPostgres({ durable: true });
  await using given = await openTestPostgres({ url: server.url });
  const { store } = given;
  const { id: workerId } = await register(store, { attachment: 'direct' });
  store.subscribe(() => undefined);
  const stop = new AbortController();
  const stored = new Set<number>();
  const settled = new Set<number>();
  const other: unknown[] = [];
  const loop = async (round: () => Promise<void>) => {
    while (!stop.signal.aborted) {
      await round().catch((error: unknown) => {
        if (!isWorkronError(error, 'store_unavailable')) other.push(error);
      });
    }
  };
  let claimSeq = 0;
  const load = [
    loop(async () => {
      const { items } = await store.insert(jobs(10), {}, forever);
      for (const { job } of items) stored.add(job.id);
    }),
    loop(async () => {
      claimSeq += 1;
      const leases = (await claim(store, workerId, { limit: 10, claimSeq })).map((job) => ({ job, workerId }));
      const answers = await store.settle(
        leases.map((lease) => success(lease)),
        forever,
      );
      answers.forEach(({ result }, place) => {
        if (result === 'ok') settled.add(leases[place]?.job.id ?? 0);
      });
    }),
    loop(async () => {
      await store.heartbeat({ workerId, leases: null, seenClaim: null }, forever);
    }),
  ];
  const grown = (from: number) => eventually(async () => settled.size > from + 30);
  await grown(0);
  await server.restart('immediate');
  await grown(settled.size);
  stop.abort();
  await Promise.all(load);

  assert.deepEqual(other, []);
  const found = await store.read([...stored], forever);
  assert.deepEqual(new Set(ids(found)), stored);
  const ended = await store.read([...settled], forever);
  assert.ok(ended.every(({ status, attempt }) => status === 'done' && attempt === 1));
  await eventually(async () => (await store.findUnlocked(forever)).workers.length === 0, { retryErrors: true });
});

test('postgres: while the server is down every call is told so', async () => {
  await using server = await startPostgres({ durable: true });
  await using given = await openTestPostgres({ url: server.url });
  const { store } = given;
  const { id } = await register(store);
  await server.halt('immediate');
  const away = (error: unknown) => isWorkronError(error, 'store_unavailable');
  await assert.rejects(store.now(forever), away);
  await assert.rejects(store.insert(jobs(1), {}, forever), away);
  await assert.rejects(store.heartbeat({ workerId: id, leases: [], seenClaim: null }, forever), away);
  await assert.rejects(claim(store, id), away);
  await server.resume();
  assert.equal((await submitOne(store, aJob())).status, 'pending');
});
