/** Schedules under several schedulers that are killed and frozen: every tick has one verdict, every run one job. */

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import pg from 'pg';
import { makeSchedule } from '../../contract/kit/schedules.ts';
import type { Cluster } from '../../src/api/cluster.ts';
import { silentLog } from '../../src/ops/log.ts';
import { openPostgres } from '../../src/store/postgres/base/open.ts';
import { effort } from '../effort.ts';
import { eventually } from '../kit/eventually.ts';
import { testPostgresUrl, testSchema } from '../kit/postgres.ts';
import { api, startWorkron, type WorkronProcess } from '../kit/workron-process.ts';

const SCHEDULERS = 3;
const MINUTE_MS = 60_000;
const skewedClock = join(import.meta.dirname, '..', 'kit', 'skewed-clock.ts');

interface Ledger {
  schedule_id: string;
  /** Ticks from the first to the last, by the clock; how many are on record; how many of those twice. */
  due: number;
  judged: number;
  doubled: number;
}

test('ticks: schedulers killed and frozen at random, with clocks minutes apart, lose and double none', {
  timeout: 400_000,
}, async () => {
  const url = await testPostgresUrl();
  const schema = testSchema();
  await using stack = new AsyncDisposableStack();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  stack.defer(async () => {
    await client.query(`drop schema if exists "${schema}" cascade`);
    await client.end();
  });
  const db = ['--db-url', url, '--db-schema', schema];
  const start = async (role: 'scheduler' | 'worker', skewMs: number): Promise<WorkronProcess> => {
    const more = role === 'scheduler' ? ['--port', '0'] : ['--workers', '4'];
    const env = { NODE_OPTIONS: `--import=${skewedClock}`, WORKRON_TEST_SKEW_MS: String(skewMs) };
    return stack.use(await startWorkron({ args: [role, ...more, ...db], env }));
  };
  const skewOf = (index: number) => (index - 1) * 7 * MINUTE_MS;
  const schedulers = await Promise.all(
    Array.from({ length: SCHEDULERS }, (_, index) => start('scheduler', skewOf(index))),
  );
  await Promise.all(Array.from({ length: effort.tickWorkers }, (_, index) => start('worker', skewOf(index))));
  const urlOf = (index: number) => schedulers[index]?.url ?? '';

  const store = stack.use(await openPostgres({ url, schema, log: silentLog }));
  for (let number = 0; number < effort.tickSchedules; number += 1) {
    const catchup = { policy: 'all', windowMs: 60 * MINUTE_MS, max: 1_000 } as const;
    const overlap = number % 2 === 0 ? 'allow' : 'skip';
    await makeSchedule(store, { name: `s${number}`, everyMs: 1_000, overlap, catchup });
  }
  const judged = async () =>
    Number((await client.query(`select coalesce(sum(count), 0) as sum from "${schema}".tick`)).rows[0].sum);
  const more = async (ticks: number) => {
    const wanted = (await judged()) + ticks;
    await eventually(async () => (await judged()) >= wanted, { everyMs: 200 });
  };
  const leader = () =>
    eventually(async () => {
      for (const [index] of schedulers.entries()) {
        const view = await api<Cluster>(urlOf(index), '/cluster').catch(() => undefined);
        const id = view?.duties.find(({ duty }) => duty === 'ticker')?.leader;
        const pid = view?.instances.find((instance) => instance.id === id)?.pid;
        const found = schedulers.findIndex((scheduler) => scheduler.pid === pid);
        if (found >= 0) return { index: found };
      }
      return undefined;
    });

  const until = performance.now() + effort.tickMs;
  for (let round = 0; round < 2 || performance.now() < until; round += 1) {
    await more(effort.tickSchedules);
    const { index: victim } = await leader();
    if (round % 3 === 0) {
      // Past its term: another judges on, and what this one had in hand when it wakes is refused.
      schedulers[victim]?.signal('SIGSTOP');
      await more(2 * effort.tickSchedules);
      const others = schedulers.filter((_, index) => index !== victim);
      await eventually(
        async () => {
          const view = await api<Cluster>(others[0]?.url ?? '', '/cluster');
          const state = view.duties.find(({ duty }) => duty === 'ticker');
          return (
            state?.leader !== null &&
            view.instances.find(({ id }) => id === state?.leader)?.pid !== schedulers[victim]?.pid
          );
        },
        { everyMs: 200 },
      );
      schedulers[victim]?.signal('SIGCONT');
    } else {
      const any = round % 3 === 1 ? victim : Math.floor(Math.random() * SCHEDULERS);
      schedulers[any]?.signal('SIGKILL');
      await schedulers[any]?.exited;
      schedulers[any] = await start('scheduler', skewOf(any));
    }
  }
  await more(2 * effort.tickSchedules);
  for (const scheduler of schedulers) scheduler.signal('SIGTERM');
  await Promise.all(schedulers.map(({ exited }) => exited));

  // Each row covers every second from scheduled_for to through.
  const { rows } = await client.query<Ledger>(`
    with each as (
      select t.schedule_id, s.at from "${schema}".tick t,
        generate_series(t.scheduled_for, t.through, interval '1 second') s(at) where t.kind <> 'manual')
    select schedule_id, (extract(epoch from max(at) - min(at)) + 1)::integer as due, count(*)::integer as judged,
      (count(*) - count(distinct at))::integer as doubled
    from each group by schedule_id`);
  assert.equal(rows.length, effort.tickSchedules);
  for (const ledger of rows)
    assert.deepEqual([ledger.judged, ledger.doubled], [ledger.due, 0], `schedule ${ledger.schedule_id}`);
  const { rows: runs } = await client.query<{ ran: number; jobs: number; missing: number; stray: number }>(`
    select count(*)::integer as ran, count(distinct t.job_id)::integer as jobs,
      count(*) filter (where j.id is null)::integer as missing,
      (select count(*) from "${schema}".job o where not exists (
        select 1 from "${schema}".tick r where r.job_id = o.id))::integer as stray
    from "${schema}".tick t left join "${schema}".job j on j.id = t.job_id where t.verdict = 'ran'`);
  const [run] = runs;
  assert.ok(run !== undefined && run.ran > 0);
  assert.deepEqual([run.jobs, run.missing, run.stray], [run.ran, 0, 0]);
  console.log(
    `${rows.reduce((sum, { judged: count }) => sum + count, 0)} ticks of ${rows.length} schedules, ${run.ran} ran`,
  );
});
