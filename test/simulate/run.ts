/**
 * Runs schedulers, workers and the memory store in one process under virtual time, with faults, and checks what must
 * never happen after each step. Equal seeds give equal histories.
 *
 *   npm run simulate                       seeds 1 to 200
 *   npm run simulate -- --seeds 1-5000     these seeds
 *   npm run simulate -- --minutes 60       new seeds for an hour
 *   npm run simulate -- --seed 7           one seed, with its whole history
 *   npm run simulate -- --seed 7 --keep f0,o3   only some of its faults and calls
 *   npm run simulate -- --teeth [TEXT]     plants the faults of teeth.ts and looks for each
 */

import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Batch, BatchEnd } from './batch.ts';
import { flagsOf, numberFrom, rangeFrom, wholeFrom } from './flags.ts';
import { type Plan, planOf } from './plan.ts';
import { keep, type Place, placesOf, shrink } from './shrink.ts';
import { simulate } from './simulate.ts';
import { runTeeth } from './teeth-run.ts';

const { values, positionals } = flagsOf({
  allowPositionals: true,
  options: {
    seed: { type: 'string' },
    seeds: { type: 'string' },
    minutes: { type: 'string' },
    keep: { type: 'string' },
    teeth: { type: 'boolean', default: false },
    /** Prints the first seed that breaks a rule, and the rule, and nothing else. */
    first: { type: 'boolean', default: false },
  },
});

// Workers that crash leave their folders behind.
process.env['TMPDIR'] = mkdtempSync(join(tmpdir(), 'workron-simulate-'));
process.once('exit', () => rmSync(process.env['TMPDIR'] as string, { recursive: true, force: true }));

/** The number of seeds that one thread tries. */
const BATCH = 100;

/** Prints the history of one seed. */
async function runOne(seed: number, kept: string | undefined): Promise<void> {
  const whole = planOf(seed);
  const plan = kept === undefined ? whole : keep(whole, kept.split(',') as Place[]);
  const { history, violation } = await simulate(plan, { keepHistory: true });
  console.log(headOf(plan));
  for (const line of history) console.log(line);
  process.exitCode = violation === undefined ? 0 : 1;
}

async function runFirst(from: number, to: number): Promise<void> {
  for (let seed = from; seed <= to; seed += BATCH) {
    const [broken] = (await runBatch({ from: seed, to: Math.min(to, seed + BATCH - 1), first: true })).broken;
    if (broken !== undefined) return console.log(JSON.stringify(broken));
  }
  console.log(JSON.stringify({ seed: null }));
}

async function runMany(): Promise<void> {
  const minutes = values.minutes === undefined ? null : numberFrom('minutes', values.minutes);
  // New seeds for each night.
  const [from, to] =
    minutes === null
      ? rangeFrom('seeds', values.seeds ?? '1-200')
      : [Math.floor(Date.now() / 1_000), Number.MAX_SAFE_INTEGER];
  const startedAt = performance.now();
  const until = minutes === null ? Number.POSITIVE_INFINITY : startedAt + minutes * 60_000;
  const counts = { seeds: 0, events: 0, virtualMs: 0, failed: 0 };
  for (let seed = from; seed <= to && performance.now() < until; seed += BATCH) {
    const batch = await runBatch({ from: seed, to: Math.min(to, seed + BATCH - 1), first: false });
    counts.seeds += batch.seeds;
    counts.events += batch.events;
    counts.virtualMs += batch.virtualMs;
    counts.failed += batch.broken.length;
    for (const { seed, rule } of batch.broken) await explain(seed, rule);
  }
  const seconds = (performance.now() - startedAt) / 1_000;
  const hours = counts.virtualMs / 3_600_000;
  console.log(
    `${counts.seeds} seeds from ${from}: ${counts.events} events in ${hours.toFixed(1)} virtual hours, ` +
      `${counts.failed} failed, ${seconds.toFixed(1)} s`,
  );
  process.exitCode = counts.failed === 0 ? 0 : 1;
}

/** In a thread of its own: calls that are never answered keep all of a simulation in memory. */
async function runBatch(batch: Batch): Promise<BatchEnd> {
  const thread = new Worker(new URL('./batch.ts', import.meta.url), { workerData: batch });
  const exited = once(thread, 'exit');
  const [end] = (await once(thread, 'message')) as [BatchEnd];
  await exited;
  return end;
}

/** Prints the shortest history that breaks the same rule, without the calls of idle loops. */
async function explain(seed: number, rule: string): Promise<void> {
  const plan = planOf(seed);
  const places = await shrink(plan, rule);
  const small = keep(plan, places);
  const { history, violation } = await simulate(small, { keepHistory: true });
  console.log(`\nseed ${seed} breaks the rule "${rule}": ${violation?.message}`);
  console.log(headOf(small));
  for (const line of history) if (!IDLE.test(line)) console.log(line);
  const all = placesOf(plan).length;
  console.log(
    `replay: npm run simulate -- --seed ${seed} --keep ${places.join(',')}   (${places.length} of ${all} calls and faults)\n`,
  );
}

const IDLE =
  / (now|lead|addStats|beatInstance|findUnlocked|graphWork|openOperations|notices|prune \[.*|pruneTicks \[.*|retireWorkers \[.*|forgetInstances \[.*|.* -> \[\]|tick .*"ticks":\[\].*|promote .*"count":0.*)$/;

function headOf({ seed, leaseMs, exclusive, schedulers, workers }: Plan): string {
  const places = workers.map(
    ({ slots, gpus, attachedTo }) =>
      `${slots} slots, ${gpus} GPUs, ${attachedTo === null ? 'remote' : `attached to scheduler ${attachedTo}`}`,
  );
  const store = exclusive ? 'a store with one owner' : 'a shared store';
  return `seed ${seed}: lease ${leaseMs / 1_000} s, ${store}, ${schedulers} schedulers, workers: ${places.join('; ')}`;
}

if (values.teeth) process.exitCode = await runTeeth(positionals);
else if (values.seed !== undefined) await runOne(wholeFrom('seed', values.seed), values.keep);
else if (values.first) await runFirst(...rangeFrom('seeds', values.seeds ?? '1-10000'));
else await runMany();
