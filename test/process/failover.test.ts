/** A PostgreSQL that fails over to its replica while Workron runs on it. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aJob } from '../../contract/kit/builders.ts';
import { forever } from '../../contract/kit/steps.ts';
import { isWorkronError } from '../../src/core/error.ts';
import { silentLog } from '../../src/ops/log.ts';
import { openPostgres } from '../../src/store/postgres/base/open.ts';
import { effort } from '../effort.ts';
import { fullOnly } from '../full-only.ts';
import { eventually } from '../kit/eventually.ts';
import { type PostgresServer, queriesTo, startPostgres } from '../kit/postgres.ts';
import { copyData } from '../kit/postgres-copy.ts';
import { startTcpSwitch, type TcpSwitch } from '../kit/tcp-switch.ts';
import { api, startWorkron } from '../kit/workron-process.ts';

const portOf = (server: PostgresServer) => Number(new URL(server.url).port);

interface Pair {
  primary: PostgresServer;
  replica: PostgresServer;
  /** The address that clients use, and the one by which the replica follows. */
  address: TcpSwitch;
  link: TcpSwitch;
  url: string;
}

async function aPair(stack: AsyncDisposableStack): Promise<Pair> {
  const settings = ['wal_level=replica', 'max_wal_senders=5'];
  const primary = stack.use(await startPostgres({ durable: true, settings }));
  const link = stack.use(await startTcpSwitch(portOf(primary)));
  const follow = `primary_conninfo=host=127.0.0.1 port=${link.port} user=postgres application_name=replica`;
  const replica = stack.use(
    await startPostgres({
      durable: true,
      settings: [...settings, follow],
      makeData: (folder) => copyData(primary, folder, 'stand by'),
    }),
  );
  const address = stack.use(await startTcpSwitch(portOf(primary)));
  return { primary, replica, address, link, url: `postgres://postgres@127.0.0.1:${address.port}/postgres` };
}

/** The primary is gone; the replica takes its place and its address. */
async function failOver({ primary, replica, address }: Pair): Promise<void> {
  await primary.halt('immediate');
  address.to(null);
  await queriesTo(replica.url)('select pg_promote()');
  address.to(portOf(replica));
}

const scheduler = (url: string) =>
  startWorkron({
    args: ['up', '--port', '0', '--db-url', url, '--workers', '4'],
    env: { WORKRON_LEASE: '10s', WORKRON_HEARTBEAT: '1s' },
  });

test('failover: with a synchronous replica no job that was acknowledged is lost, and all of them end', {
  timeout: effort.waitMs,
}, async () => {
  await using stack = new AsyncDisposableStack();
  const pair = await aPair(stack);
  const query = queriesTo(pair.primary.url);
  await query(`alter system set synchronous_standby_names = 'replica'`);
  await query('select pg_reload_conf()');
  await eventually(async () => {
    const rows = await query<{ state: string }>('select sync_state as state from pg_stat_replication');
    return rows[0]?.state === 'sync';
  });
  const nodes = [stack.use(await scheduler(pair.url)), stack.use(await scheduler(pair.url))];
  const acknowledged: string[] = [];
  const load = new AbortController();
  const submitting = nodes.map(async ({ url }) => {
    while (!load.signal.aborted) {
      // A submission that is not answered may be there or not.
      const job = await api<{ id: string }>(url, '/jobs', { command: 'sleep 0.05' }).catch(() => undefined);
      if (job !== undefined) acknowledged.push(job.id);
    }
  });
  await eventually(() => acknowledged.length > 50);
  await failOver(pair);
  const before = acknowledged.length;
  await eventually(() => acknowledged.length > before + 50);
  load.abort();
  await Promise.all(submitting);
  assert.equal(new Set(acknowledged).size, acknowledged.length, 'no id is given twice');
  const after = queriesTo(pair.replica.url);
  await eventually(async () => (await after('select 1 from workron.live')).length === 0);
  const ended = await after<{ id: string }>(`select job_id::text as id from workron.run where status = 'done'`);
  const done = new Set(ended.map(({ id }) => id));
  assert.deepEqual(
    acknowledged.filter((id) => !done.has(id)),
    [],
  );
});

test('failover: with an asynchronous replica the jobs that it had not received are gone, and the others go on', {
  timeout: effort.waitMs,
  skip: fullOnly('failover: with an asynchronous replica'),
}, async () => {
  await using stack = new AsyncDisposableStack();
  const pair = await aPair(stack);
  await using node = await scheduler(pair.url);
  const submit = () => api<{ id: string }>(node.url, '/jobs', { command: 'true' });
  const wait = (id: string) => api<{ status: string }>(node.url, `/jobs/${id}/wait?timeout=60s`);
  const received = await submit();
  assert.equal((await wait(received.id)).status, 'done');
  const [{ lsn } = { lsn: '' }] = await queriesTo(pair.primary.url)<{ lsn: string }>(
    'select pg_current_wal_lsn() as lsn',
  );
  const onReplica = queriesTo(pair.replica.url);
  await eventually(async () => {
    const [row] = await onReplica<{ there: boolean }>('select pg_last_wal_replay_lsn() >= $1::pg_lsn as there', [lsn]);
    return row?.there === true;
  });
  pair.link.to(null);
  const lost = await submit();
  assert.equal((await wait(lost.id)).status, 'done');
  await failOver(pair);
  const next = await eventually(() => submit().catch(() => false as const));
  assert.equal((await wait(next.id)).status, 'done');
  assert.notEqual(next.id, lost.id);
  assert.equal((await api<{ status: string }>(node.url, `/jobs/${received.id}`)).status, 'done');
  await assert.rejects(api(node.url, `/jobs/${lost.id}`), /404/);
});

test('failover: connections to a server that only reads are given up, so that the next one follows the address', {
  timeout: effort.waitMs,
}, async () => {
  await using stack = new AsyncDisposableStack();
  const { primary, replica, address, url } = await aPair(stack);
  await using store = await openPostgres({ url, schema: 'workron', log: silentLog });
  await store.insert([aJob()], {}, forever);
  address.to(portOf(replica));
  // The first calls may meet connections that have just been cut.
  const refusal = await eventually(() =>
    store.insert([aJob()], {}, forever).then(
      () => false as const,
      (error: Error) => /read-only/.test(error.message) && error,
    ),
  );
  assert.ok(isWorkronError(refusal, 'store_unavailable'));
  address.newTo(portOf(primary));
  assert.equal((await store.insert([aJob()], {}, forever)).items.length, 1);
});
