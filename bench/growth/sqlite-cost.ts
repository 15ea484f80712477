/**
 * The cost of a claimed and settled job on SQLite with few and with many other rows: steps of its virtual machine, bytes
 * that go to and from files (pages beyond its cache, and the log), and time.
 *
 *   node --import ./sqlite-steps.ts sqlite-cost.ts A_MILLION JOBS
 */

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '../../src/ops/clock.ts';
import { silentLog } from '../../src/ops/log.ts';
import { openSqlite } from '../../src/store/sqlite/base/open.ts';
import { temporaryFolder } from '../../test/kit/workron-process.ts';
import { median } from '../measure.ts';
import { drain, type Submit, submitMany } from './drain.ts';
import { CLAIMS, claimOthers, FULL_KEYS, fillKey, MAX_GROWTH, parkAll, submitOthers } from './full-key.ts';
import { printHead, printRow, verdict, whole } from './section.ts';
import { SPREADS } from './spreads.ts';
import { type FillSqlite, fillBlocked, fillEnded, fillLater, fillPending } from './sqlite-piles.ts';
import { stepsSoFar } from './sqlite-steps.ts';

const [million = 0, jobs = 0] = process.argv.slice(2).map(Number);
const PAIRS = 3;
const MAX_RATIO = 1.15;
/** The threads of the store: a writer and a reader. */
const THREADS = 2;

interface Work {
  steps: number;
  kibRead: number;
  kibWritten: number;
  us: number;
}

interface Side {
  size: number;
  fill: FillSqlite;
  submit: Submit;
}

printHead([
  'what grows',
  'from → to',
  'steps per job',
  'last to first',
  'goal',
  'KiB read',
  'KiB written',
  'µs per job',
  `time, last to first (${PAIRS} pairs)`,
]);
for (const [title, fill, few, many] of [
  ['pending behind', fillPending, million / 100, million],
  ['due later', fillLater, million / 100, million],
  ['blocked', fillBlocked, million / 1_000, million / 10],
  ['ended and kept', fillEnded, million / 100, million * 5],
] as const) {
  const submit: Submit = (store) => submitMany(store, jobs, () => ({ priority: 9 }));
  await compare(title, MAX_RATIO, { size: Math.ceil(few), fill, submit }, { size: Math.ceil(many), fill, submit });
}
for (const { title, max, few, many, submit } of SPREADS) {
  const side = (size: number): Side => ({
    size,
    fill: () => Promise.resolve(),
    submit: (store) => submit(store, jobs, size),
  });
  await compare(title, max, side(few), side(Math.min(many, jobs)));
}

await compareFullKeys();

/** The steps of a claim while jobs of a full key wait. */
async function compareFullKeys(): Promise<void> {
  const scale = million / 1_000_000;
  const sizes = [FULL_KEYS.few, FULL_KEYS.many].map((size) => Math.ceil(size * scale));
  const [first, last] = [await fullKeySteps(sizes[0] as number), await fullKeySteps(sizes[1] as number)];
  for (const [title, what] of [
    ['a claim that parks jobs of a full key', 'parking'],
    ['a claim beside parked jobs', 'parked'],
  ] as const) {
    const ratio = last[what] / first[what];
    const steps = `${whole(first[what])} → ${whole(last[what])}`;
    const cells = [title, sizes.map(whole).join(' → '), steps, ratio.toFixed(2), verdict(ratio, MAX_GROWTH)];
    printRow([...cells, '', '', '', '']);
  }
}

async function fullKeySteps(count: number): Promise<{ parking: number; parked: number }> {
  await using folder = await temporaryFolder();
  await using store = await openSqlite({ file: join(folder.path, 'key.db'), clock: systemClock, log: silentLog });
  const workerId = await fillKey(store, count);
  const claims = async () => {
    const before = await stepsSoFar(THREADS);
    for (let claim = 0; claim < CLAIMS; claim += 1) await claimOthers(store, workerId);
    return ((await stepsSoFar(THREADS)) - before) / CLAIMS;
  };
  const parking = await claims();
  await parkAll(store, workerId);
  await submitOthers(store, 1);
  return { parking, parked: await claims() };
}

async function compare(title: string, max: number, few: Side, many: Side): Promise<void> {
  await using folder = await temporaryFolder();
  const files = { few: join(folder.path, 'few.db'), many: join(folder.path, 'many.db') };
  await few.fill(files.few, few.size);
  await many.fill(files.many, many.size);
  const works: { few: Work; many: Work }[] = [];
  // The first pair fills the caches.
  for (let pair = 0; pair <= PAIRS; pair += 1) {
    works.push({ few: await work(files.few, few.submit), many: await work(files.many, many.submit) });
  }
  works.shift();
  const of = (side: 'few' | 'many', what: keyof Work) => median(works.map((pair) => pair[side][what]));
  const both = (what: keyof Work) => `${of('few', what).toFixed(1)} → ${of('many', what).toFixed(1)}`;
  const steps = of('many', 'steps') / of('few', 'steps');
  const times = works.map((pair) => pair.many.us / pair.few.us);
  printRow([
    title,
    `${whole(few.size)} → ${whole(many.size)}`,
    both('steps'),
    steps.toFixed(2),
    verdict(steps, max),
    both('kibRead'),
    both('kibWritten'),
    both('us'),
    `${median(times).toFixed(2)} (${Math.min(...times).toFixed(2)} … ${Math.max(...times).toFixed(2)})`,
  ]);
}

async function work(file: string, submit: Submit): Promise<Work> {
  await using store = await openSqlite({ file, clock: systemClock, log: silentLog });
  await submit(store);
  const before = { steps: await stepsSoFar(THREADS), io: await bytesMoved(), at: performance.now() };
  await drain(store, jobs);
  const us = (1_000 * (performance.now() - before.at)) / jobs;
  const io = await bytesMoved();
  return {
    steps: ((await stepsSoFar(THREADS)) - before.steps) / jobs,
    kibRead: (io.read - before.io.read) / 1_024 / jobs,
    kibWritten: (io.written - before.io.written) / 1_024 / jobs,
    us,
  };
}

/** Bytes that this process has read and written, as counted by Linux. */
async function bytesMoved(): Promise<{ read: number; written: number }> {
  const counts = await readFile('/proc/self/io', 'utf8').catch(() => '');
  const of = (name: string) => Number(new RegExp(`${name}: (\\d+)`).exec(counts)?.[1] ?? Number.NaN);
  return { read: of('rchar'), written: of('wchar') };
}
