/** The statements of an idle instance on PostgreSQL: alone, with many schedules, with many workers. */

import { setTimeout as sleep } from 'node:timers/promises';
import { DEFAULT_SPEC } from '../../src/core/job.ts';
import { NEVER } from '../../src/core/never.ts';
import { DEFAULT_CATCHUP } from '../../src/core/schedule/plan-ticks.ts';
import type { Grounds } from './grounds.ts';
import { idleWorkers } from './idle-workers.ts';
import { printHead, printRow, type Section, verdict, whole } from './section.ts';
import { startScheduler } from './workron.ts';

const SCHEDULES = 100_000;
const WORKERS = 200;
/** The wait after the start, which has its own statements. */
const SETTLE_MS = 5_000;
const WATCH_MS = 20_000;
const MONTH_MS = 30 * 86_400_000;
/** Statements about schedules, per second and instance. */
const MAX_RATE = 1;
export const idle: Section = {
  name: 'idle',
  title: 'Statements per second while nothing happens',
  async run(grounds) {
    const schedules = grounds.sized(SCHEDULES);
    const workers = grounds.sized(WORKERS);
    const alone = await watch(grounds, 'idle_alone', () => Promise.resolve(null));
    const scheduled = await watch(grounds, 'idle_schedules', async (schema) => {
      await addSchedules(grounds, schema, schedules);
      return null;
    });
    const attended = await watch(grounds, 'idle_workers', (_, url) => idleWorkers(url, workers));
    printHead(['statement', 'one instance', `${whole(schedules)} schedules`, `${whole(workers)} workers`]);
    const columns = [alone, scheduled, attended].map(({ rates }) => rates);
    const all = new Set(columns.flatMap((rates) => [...rates.keys()]));
    const peak = (name: string) => Math.max(...columns.map((rates) => rates.get(name) ?? 0));
    for (const name of [...all].sort((a, b) => peak(b) - peak(a))) {
      printRow([`\`${name}\``, ...columns.map((rates) => (rates.get(name) ?? 0).toFixed(2))]);
    }
    printRow(['all', ...columns.map((rates) => sum([...rates.values()]).toFixed(2))]);
    const { ofSchedules } = scheduled;
    console.log(
      `\nAbout schedules: ${ofSchedules.toFixed(2)} a second and instance, ${verdict(ofSchedules, MAX_RATE)}.`,
    );
  },
};

interface Watched {
  /** Calls per second, by the start of the statement. */
  rates: ReadonlyMap<string, number>;
  /** Calls per second of statements that read or write schedules. */
  ofSchedules: number;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** Measures one instance. `prepare` gets the URL of its API. */
async function watch(
  grounds: Grounds,
  schema: string,
  prepare: (schema: string, url: string) => Promise<AsyncDisposable | null>,
): Promise<Watched> {
  const { client } = grounds;
  await using scheduler = await startScheduler(grounds, schema);
  await using _prepared = await prepare(schema, scheduler.url);
  await sleep(SETTLE_MS);
  await client.query('select pg_stat_statements_reset()');
  await sleep(WATCH_MS);
  const { rows } = await client.query<{ query: string; calls: number }>(
    `select query, calls::float8 from pg_stat_statements where query not like '%pg_stat_statements%'`,
  );
  const rates = new Map<string, number>();
  const perSecond = (calls: number) => (calls * 1_000) / WATCH_MS;
  for (const { query, calls } of rows) {
    const name = nameOf(query, schema);
    rates.set(name, (rates.get(name) ?? 0) + perSecond(calls));
  }
  const about = rows.filter(({ query }) => /"\.schedule(_line)?\b/.test(query));
  return { rates, ofSchedules: sum(about.map(({ calls }) => perSecond(calls))) };
}

/** The start of a statement, which identifies it. The server keeps constants in some texts and not in others. */
function nameOf(query: string, schema: string): string {
  const text = query
    .replaceAll(`"${schema}".`, '')
    .replaceAll(/'[^']*'|\$\d+/g, '?')
    .replaceAll(/\s+/g, ' ')
    .replace(/^with t as materialized \(select now\(\) as now\),? /, '');
  return text.replaceAll('|', '/').slice(0, 90).trim();
}

/** Creates one schedule through the store and copies its rows. The next ticks are a month away. */
async function addSchedules(grounds: Grounds, schema: string, count: number): Promise<void> {
  await using store = await grounds.open(schema);
  await store.createSchedule(
    {
      name: 'first',
      owner: null,
      cron: null,
      everyMs: MONTH_MS,
      anchor: Date.now(),
      timezone: 'UTC',
      overlap: 'skip',
      catchup: DEFAULT_CATCHUP,
      jitterMs: 0,
      startAt: null,
      endAt: null,
      forEach: null,
      target: { job: { ...DEFAULT_SPEC, command: 'true' } },
    },
    NEVER,
  );
  await grounds.client.query(`
    with made as (
      insert into ${schema}.schedule (name, owner, spec, created_at, updated_at)
      select 'copy-' || i, f.owner, f.spec, f.created_at, f.updated_at
      from ${schema}.schedule f, generate_series(2, ${count}) i where f.name = 'first'
      returning id)
    insert into ${schema}.schedule_line (schedule_id, key, cursor, next_due)
    select made.id, l.key, l.cursor, l.next_due from made, ${schema}.schedule_line l`);
  await grounds.client.query(`vacuum analyze ${schema}.schedule, ${schema}.schedule_line`);
}
