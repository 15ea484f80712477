/**
 * A steady load on PostgreSQL for minutes: does anything grow? Ended jobs are deleted after a fifth of the time, so that tables can
 * reach their size. Ends with 1 if something is not flat.
 * `npm run bench:soak [-- --minutes 10] [--rate 5000] [--workers 1] [--slots 24]`
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { endOnExit } from '../../test/kit/end-on-exit.ts';
import { startPostgres } from '../../test/kit/postgres-server.ts';
import { startWorkron } from '../../test/kit/workron-process.ts';
import { connect } from '../growth/grounds.ts';
import { printHead, printRow, whole } from '../growth/section.ts';
import { buildWorkron, MAIN } from '../race/peers/built.ts';
import { parentOf, type Sample, sample } from './sample.ts';
import { type Verdict, verdicts } from './verdict.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    rate: { type: 'string', default: '5000' },
    workers: { type: 'string', default: '1' },
    slots: { type: 'string', default: '24' },
  },
});
const positive = (name: keyof typeof values): number => {
  const value = Number(values[name]);
  if (!(value > 0)) throw new Error(`--${name}: expected a number above 0, got "${values[name]}"`);
  return value;
};
const [seconds, rate, workers] = [positive('minutes') * 60, positive('rate'), positive('workers')];
const slots = positive('slots');
/** At least ten samples for each third. */
const EVERY_S = Math.max(1, Math.min(10, seconds / 30));

buildWorkron();
await using stack = new AsyncDisposableStack();
const server = stack.use(await startPostgres({ durable: true }));
const client = await connect(server.url);
stack.defer(() => client.end());
const retention = `${Math.max(10, Math.round(seconds / 5))}s`;
const scheduler = stack.use(
  await startWorkron({
    command: process.execPath,
    args: [MAIN, 'up', '--port', '0', '--role', 'api,scheduler', '--log-level', 'error', '--retention-done', retention],
    env: { WORKRON_DB_URL: server.url },
  }),
);
const loads = new Map<string, ChildProcess>();
for (let worker = 1; worker <= workers; worker += 1) loads.set(`worker ${worker}`, await load('work', slots));
const submitter = await load('submit', rate);
loads.set('submitter', submitter);

const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
const processes = new Map([
  ['scheduler', scheduler.pid],
  ...[...loads].map(([name, { pid }]): [string, number] => [name, pid as number]),
  ['postgres', parentOf(rows[0]?.pid as number)],
]);
console.log(`${whole(rate)} jobs a second for ${seconds / 60} minutes, ended jobs kept for ${retention}\n`);
const samples = await watch();
submitter.stdin?.end();
const [code] = (await once(submitter, 'exit')) as [number | null];
if (code !== 0) throw new Error(`the submitter ended with ${code}`);
report(samples);

async function load(role: 'submit' | 'work', amount: number): Promise<ChildProcess> {
  const file = new URL('load.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, [file, role, server.url, String(amount)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  endOnExit('process', child);
  stack.defer(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.stdin.end();
    await once(child, 'exit');
  });
  await createInterface({ input: child.stdout })[Symbol.asyncIterator]().next();
  return child;
}

/** Samples until the time is over, and prints each. */
async function watch(): Promise<Sample[]> {
  const taken: Sample[] = [];
  const startedAt = performance.now();
  const passed = () => (performance.now() - startedAt) / 1_000;
  printHead([
    's',
    'submitted/s',
    'ended/s',
    'unfinished',
    'kept',
    'p50',
    'p99',
    'tables',
    'dead rows',
    ...processes.keys(),
  ]);
  while (passed() < seconds) {
    await sleep(EVERY_S * 1_000);
    const last = taken.at(-1);
    const next = await sample({ client, processes }, { at: passed(), after: last?.submitted ?? 0 });
    taken.push(next);
    if (last !== undefined) printSample(last, next);
  }
  return taken;
}

function printSample(last: Sample, next: Sample): void {
  const perSecond = (of: (sample: Sample) => number) => whole(Math.round((of(next) - of(last)) / (next.at - last.at)));
  const relations = [...next.relations.values()];
  const bytes = relations.reduce((sum, relation) => sum + relation.bytes, 0);
  const dead = relations.reduce((sum, relation) => sum + (relation.dead ?? 0), 0);
  printRow([
    next.at.toFixed(0),
    perSecond(({ submitted }) => submitted),
    perSecond(({ ended }) => ended),
    whole(next.unfinished),
    whole(next.kept),
    `${next.p50.toFixed(0)} ms`,
    `${next.p99.toFixed(0)} ms`,
    megabytes(bytes),
    whole(dead),
    ...[...next.memory.values()].map(megabytes),
  ]);
}

function report(taken: readonly Sample[]): void {
  const found = verdicts(taken, rate);
  console.log('\nMedians of the second and of the last third:\n');
  printHead(['what', 'second third', 'last third', 'verdict']);
  for (const { what, before, last, unit, isFlat } of found) {
    const show = (value: number) => `${unit === 'MB' ? value.toFixed(1) : whole(Math.round(value))} ${unit}`;
    printRow([what, show(before), show(last), isFlat ? 'flat' : '**not flat**']);
  }
  const growing: Verdict[] = found.filter(({ isFlat }) => !isFlat);
  console.log(growing.length === 0 ? '\nFlat.' : `\nNot flat: ${growing.map(({ what }) => what).join(', ')}.`);
  if (growing.length > 0) process.exitCode = 1;
}

function megabytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(0)} MB`;
}
