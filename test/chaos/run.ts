/**
 * Runs an installation of real processes under load, does everything to it that faults.ts lists, and reports what was
 * lost, doubled or late.
 *
 *   npm run chaos -- --minutes 30 --store postgres|sqlite [--seed 1] [--only TEXT]
 *
 * `--only` chooses the faults whose name contains a text.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { Chance } from '../simulate/chance.ts';
import { chosenFrom, flagsOf, numberFrom, wholeFrom } from '../simulate/flags.ts';
import { FAULTS, type Measured } from './faults.ts';
import { Installation } from './installation.ts';
import { Load, type Mark } from './load.ts';
import { TableWatch } from './tables.ts';

const { values } = flagsOf({
  options: {
    minutes: { type: 'string', default: '2' },
    store: { type: 'string', default: 'postgres' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string', default: '' },
  },
});
const store = chosenFrom('store', values.store, ['postgres', 'sqlite']);
const chance = new Chance(wholeFrom('seed', values.seed));
const minutes = numberFrom('minutes', values.minutes);
const wanted = FAULTS.filter(({ name }) => name.includes(values.only));
if (wanted.length === 0)
  chosenFrom(
    'only',
    values.only,
    FAULTS.map(({ name }) => name),
  );
const ends = performance.now() + minutes * 60_000;
const measured: Measured = { killedAt: new Map(), takeovers: [] };
const counts = new Map<string, number>();
/** Faults that are under way: no kind happens twice at once. */
const running = new Set<string>();
/** How long all work may take once faults have stopped. */
const SETTLE_MS = 300_000;

await using installation = new Installation();
await installation.start({ store, schedulers: 3, workers: 4 });
const load = new Load(installation);
const stop = new AbortController();
const watch = new TableWatch(installation);
const watching = watch.run(stop.signal);
const submitting = load.run(chance.fork('load').next, stop.signal);
// Two faults at a time.
await Promise.all([inflict(chance.fork('first')), inflict(chance.fork('second'))]);
stop.abort();
await submitting;
await watching;
const unfinished = await load.unfinished(SETTLE_MS);
await load.endSchedule();
await report();

/** One fault after the other until the time is over. Each kind is due once before any is repeated. */
async function inflict(random: Chance): Promise<void> {
  const possible = wanted.filter((fault) => fault.applies(installation));
  let due: typeof possible = [];
  while (performance.now() < ends) {
    if (due.length === 0) due = [...possible];
    const [fault] = due.splice(random.int(0, due.length - 1), 1);
    if (fault === undefined || running.has(fault.name)) {
      await sleep(100);
      continue;
    }
    running.add(fault.name);
    console.log(`${new Date().toISOString()}  ${fault.name}`);
    const acted = await fault.run(installation, measured, random.next);
    running.delete(fault.name);
    if (acted) counts.set(fault.name, (counts.get(fault.name) ?? 0) + 1);
    await sleep(random.int(500, 4_000));
  }
}

async function report(): Promise<void> {
  const marks = load.marks();
  const overlaps = load.overlaps();
  const { ticks, wrong } = await load.ticks();
  const completed = new Map<string, number>();
  for (const { jobId, what } of marks) if (what === 'end') completed.set(jobId, (completed.get(jobId) ?? 0) + 1);
  const payments = Map.groupBy(await installation.payments(), (order) => order);
  const isCompleted = (id: string) => completed.has(id) || payments.has(load.orders.get(id) ?? '');
  const lost = [...load.acknowledged].filter((id) => !isCompleted(id) && !unfinished.includes(id));
  const doubled = [...payments.values()].filter((times) => times.length > 1).length;
  const waits = [...watch.found, ...(await watch.atEnd())];
  const again = [...completed.values()].filter((times) => times > 1).length;
  const reclaims = await reclaimTimes(marks);
  console.log(`\n${store}, ${values.minutes} minutes, seed ${values.seed}`);
  for (const fault of FAULTS) {
    const count = fault.applies(installation) ? (counts.get(fault.name) ?? 0) : 'not possible here';
    console.log(`  ${fault.name.padEnd(60)} ${count}`);
  }
  console.log(`  faults: ${[...counts.values()].reduce((sum, count) => sum + count, 0)}`);
  console.log(`  acknowledged jobs: ${load.acknowledged.size}, lost: ${lost.length}, unfinished: ${unfinished.length}`);
  console.log(`  attempts: ${marks.filter(({ what }) => what === 'start').length}, overlapping: ${overlaps.length}`);
  console.log(`  jobs whose command ended more than once: ${again}`);
  console.log(`  payments in transactions with the end of their jobs: ${payments.size}, doubled: ${doubled}`);
  console.log(
    `  looks at the tables: ${watch.looks}, waiting for nobody: ${waits.length}, limits opened late: ${watch.healed}`,
  );
  console.log(`  ticks: ${ticks}, without or with two verdicts: ${wrong}`);
  console.log(`  reclaim after a killed worker: ${percentiles(reclaims)}`);
  console.log(`  takeover after a killed leader: ${percentiles(measured.takeovers)}`);
  if (overlaps.length > 0) console.log(`  overlaps (job attempt): ${overlaps.slice(0, 20).join(', ')}`);
  if (waits.length > 0) console.log(`  waiting for nobody: ${waits.slice(0, 20).join(', ')}`);
  const faults = lost.length + unfinished.length + overlaps.length + wrong + doubled + waits.length + watch.healed;
  process.exitCode = faults === 0 ? 0 : 1;
}

/** From the kill of a worker to the start of the next attempt, for each job that it ran. */
async function reclaimTimes(marks: readonly Mark[]): Promise<number[]> {
  const { items } = await installation.ask<{ items: { id: string; name: string }[] }>('/workers');
  const names = new Map(items.map(({ id, name }) => [id, name]));
  const starts = new Map(
    marks.filter(({ what }) => what === 'start').map((mark) => [`${mark.jobId}/${mark.attempt}`, mark.at]),
  );
  const again = new Set(marks.filter(({ attempt }) => attempt > 1).map(({ jobId }) => jobId));
  const times: number[] = [];
  for (const jobId of again) {
    const attempts = await installation.ask<{ items: { attempt: number; worker_id: string; outcome: string }[] }>(
      `/jobs/${jobId}/attempts`,
    );
    for (const { attempt, worker_id: worker, outcome } of attempts.items) {
      const killedAt = measured.killedAt.get(names.get(worker) ?? '');
      const next = [...starts]
        .filter(([key]) => key.startsWith(`${jobId}/`) && Number(key.split('/')[1]) > attempt)
        .map(([, at]) => at);
      if (outcome !== 'lost' || killedAt === undefined || next.length === 0) continue;
      // Jobs that were lost before the kill, in a freeze for instance, do not count.
      const ms = Math.min(...next) - killedAt;
      if (ms >= 0) times.push(ms);
    }
  }
  return times;
}

function percentiles(times: readonly number[]): string {
  if (times.length === 0) return 'none measured';
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number) =>
    `${((sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] as number) / 1_000).toFixed(1)} s`;
  return `${sorted.length} measured, p50 ${at(0.5)}, p99 ${at(0.99)}, longest ${at(1)}`;
}
