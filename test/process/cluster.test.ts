/** Several schedulers on one PostgreSQL, with real processes. */

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import pg from 'pg';
import type { Cluster, DutyStatus } from '../../src/api/cluster.ts';
import type { Job } from '../../src/api/job.ts';
import { effort } from '../effort.ts';
import { eventually } from '../kit/eventually.ts';
import { testPostgresUrl, testSchema } from '../kit/postgres.ts';
import { api, startWorkron, temporaryFolder, type WorkronProcess } from '../kit/workron-process.ts';

const SCHEDULERS = 3;

describe('cluster', { timeout: 300_000 }, () => {
  const stack = new AsyncDisposableStack();
  const schema = testSchema();
  let url = '';
  let folder = '';
  let schedulers: WorkronProcess[] = [];

  before(async () => {
    url = await testPostgresUrl();
    folder = stack.use(await temporaryFolder()).path;
    stack.defer(async () => void (await query(`drop schema if exists "${schema}" cascade`)));
    const args = ['scheduler', '--port', '0', '--db-url', url, '--db-schema', schema];
    schedulers = await Promise.all(
      Array.from({ length: SCHEDULERS }, async () => stack.use(await startWorkron({ args }))),
    );
  });
  after(() => stack.disposeAsync());

  const query = async <Row>(text: string, values: unknown[] = []): Promise<Row[]> => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      return (await client.query(text, values)).rows as Row[];
    } finally {
      await client.end();
    }
  };
  const urlOf = (index: number) => schedulers[index]?.url ?? '';
  /** As an instance that is alive tells it. */
  const cluster = () => api<Cluster>(urlOf(alive()), '/cluster');
  const gone = new Set<number>();
  const alive = () => schedulers.findIndex((_, index) => !gone.has(index));
  const promoter = ({ duties }: Cluster): DutyStatus => duties.find(({ duty }) => duty === 'promoter') ?? assert.fail();
  /** The process that leads, and its duty's state. */
  const leading = () =>
    eventually(async () => {
      const view = await cluster();
      const duty = view.duties.find((state) => state.duty === 'promoter');
      const pid = view.instances.find(({ id }) => id === duty?.leader)?.pid;
      const index = schedulers.findIndex((scheduler) => scheduler.pid === pid);
      return duty !== undefined && index >= 0 && { index, duty };
    });
  const succeeded = (term: number) =>
    eventually(async () => {
      const duty = promoter(await cluster());
      return duty.term > term && duty.leader !== null && duty;
    });
  const gaugeOf = async (index: number) => {
    const text = await (await fetch(`${urlOf(index)}/metrics`)).text();
    return /workron_leader\{duty="promoter"\} (\d)/.exec(text)?.[1];
  };
  /** A delayed job is made claimable only by the promoter. */
  const promoted = async () => {
    const { id } = await api<Job>(urlOf(alive()), '/jobs', { command: 'true', delay: '50ms', queue: 'nobody' });
    await eventually(async () => (await api<Job>(urlOf(alive()), `/jobs/${id}`)).status === 'pending');
  };

  test('cluster: claims at load are never doubled, whichever schedulers they go through', async () => {
    const workers = await Promise.all(
      Array.from({ length: effort.clusterWorkers }, async (_, index) => {
        const urls = [0, 1, 2].map((offset) => urlOf((index + offset) % SCHEDULERS)).join(',');
        const args = [
          'worker',
          '--scheduler',
          urls,
          '--queues',
          'load',
          '--workers',
          '4',
          '--worker-name',
          `w${index}`,
        ];
        return stack.use(await startWorkron({ args }));
      }),
    );
    const file = join(folder, 'ran');
    const command = `echo $WORKRON_JOB_ID $WORKRON_ATTEMPT >> ${file}`;
    const jobs = Array.from({ length: effort.clusterJobs }, () => ({ command, queue: 'load' }));
    const submitted: string[] = [];
    for (let start = 0; start < jobs.length; start += 1_000) {
      const at = urlOf((start / 1_000) % SCHEDULERS);
      const { items } = await api<{ items: Job[] }>(at, '/jobs', jobs.slice(start, start + 1_000));
      submitted.push(...items.map(({ id }) => id));
    }
    await eventually(
      async () => {
        const { items } = await api<{ items: { name: string; pending: number; running: number }[] }>(
          urlOf(0),
          '/queues',
        );
        const queue = items.find(({ name }) => name === 'load');
        return queue === undefined || queue.pending + queue.running === 0;
      },
      { everyMs: 200 },
    );
    for (const worker of workers) worker.signal('SIGTERM');
    assert.deepEqual(
      await Promise.all(workers.map(({ exited }) => exited)),
      workers.map(() => 0),
    );

    const ran = (await readFile(file, 'utf8')).trim().split('\n');
    assert.deepEqual(ran.sort(), submitted.map((id) => `${id} 1`).sort());
    const claimed = await Promise.all(
      schedulers.map(async ({ url: at, pid }) => {
        const text = await (await fetch(`${at}/metrics`)).text();
        return { pid, claimed: Number(/events_total\{event="claimed",queue="load"\} (\d+)/.exec(text)?.[1] ?? 0) };
      }),
    );
    console.log(
      `claims by scheduler process: ${claimed.map(({ pid, claimed: count }) => `${pid}: ${count}`).join(', ')}`,
    );
    const runs = await query<{ name: string; count: number }>(
      `select w.name, count(*)::integer as count from "${schema}".run r join "${schema}".worker w on w.id = r.worker_id
       group by w.name order by w.name`,
    );
    console.log(`runs by worker process: ${runs.map(({ name, count }) => `${name}: ${count}`).join(', ')}`);
    assert.equal(
      claimed.reduce((sum, { claimed: count }) => sum + count, 0),
      jobs.length,
    );
    assert.equal(
      runs.reduce((sum, { count }) => sum + count, 0),
      jobs.length,
    );
  });

  test('cluster: all instances are listed by any of them, one leads each duty, and its gauge says so', async () => {
    const view = await eventually(async () => {
      const seen = await cluster();
      return seen.instances.length === SCHEDULERS && seen.duties.every(({ leader }) => leader !== null) && seen;
    });
    assert.deepEqual(new Set(view.instances.map(({ pid }) => pid)), new Set(schedulers.map(({ pid }) => pid)));
    assert.ok(view.instances.every(({ state, roles, url: at }) => state === 'online' && roles.length === 2 && at));
    const { index } = await leading();
    const gauges = await Promise.all(schedulers.map((_, each) => gaugeOf(each)));
    assert.deepEqual(
      gauges,
      schedulers.map((_, each) => (each === index ? '1' : '0')),
    );
    await promoted();
  });

  test('cluster: a leader whose connection is cut stops leading, and the next term begins', async () => {
    // A leader whose session is not there yet leads by its row, and takes the lock when it renews.
    const { index, duty } = await eventually(async () => {
      const found = await leading();
      return found.duty.held_by === 'lock' && found;
    });
    const [space, number] = duty.lock_key ?? assert.fail();
    const cut = await query(
      `select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and granted
       and classid = ($1::integer)::oid and objid = ($2::integer)::oid and objsubid = 2`,
      [space, number],
    );
    assert.equal(cut.length, 1);
    await succeeded(duty.term);
    assert.match(schedulers[index]?.output() ?? '', /the session with the store has ended.*lost leadership/);
    await promoted();
  });

  test('cluster: a frozen leader is passed, its duties go on, and when it wakes it leads nothing', async () => {
    const { index, duty } = await leading();
    schedulers[index]?.signal('SIGSTOP');
    gone.add(index);
    await succeeded(duty.term);
    await promoted();
    schedulers[index]?.signal('SIGCONT');
    gone.delete(index);
    await eventually(async () => (await gaugeOf(index)) === '0');
    const { index: now } = await leading();
    assert.notEqual(now, index);
  });

  test('cluster: a leader that is killed is followed', async () => {
    const { index, duty } = await leading();
    schedulers[index]?.signal('SIGKILL');
    gone.add(index);
    await succeeded(duty.term);
    await promoted();
  });

  test('cluster: a leader that is told to stop hands over and is not listed any more', async () => {
    const { index, duty } = await leading();
    schedulers[index]?.signal('SIGTERM');
    gone.add(index);
    assert.equal(await schedulers[index]?.exited, 0);
    await succeeded(duty.term);
    const { instances } = await cluster();
    assert.ok(!instances.some(({ pid }) => pid === schedulers[index]?.pid));
    await promoted();
  });
});
