/**
 * What the contenders are compared in. Each call is one round of one contender.
 *
 * A drain: a process fills the store; the workers' processes have handled jobs before, so that their code is compiled. The
 * clock starts when the workers are told to begin, which includes what each contender does to start a worker. It ends when
 * a connection that is not the contender's sees that no job waits or runs, at most about 10 ms late (`LOOK_MS`, and the
 * time of a look).
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { meter, NO_USAGE, type Usage } from '../usage.ts';
import type { Handled } from './child.ts';
import { type ContenderName, entryOf } from './contender.ts';
import type { Ground } from './grounds.ts';
import { sumOf } from './payload.ts';
import { type RaceProcess, startProcess } from './process.ts';
import type { Settings } from './settings.ts';

export const SLOTS = 24;
const BULK = 1_000;
const LOOK_MS = 5;
const MAX_LOOK_MS = 250;
/** A look at the store costs as much as a command; one command more or less in ten milliseconds is within the spread. */
const SHELL_LOOK_MS = 10;
/** Jobs that a process handles before the clock starts. */
const WARM_UP = { fast: 3_000, slow: 300 };
const WARM_UP_BULKS = 3;
const WARM_UP_LATENCIES = 50;

/** One round of one contender. */
export interface Measured {
  /** A rate, or latencies. */
  figures: number[];
  usage: Usage;
}

export interface Entrant {
  name: ContenderName;
  ground: Ground;
  settings?: Settings;
}

export interface Work {
  jobs: number;
  /** Of a job's input as JSON. */
  bytes: number;
}

/** From a full queue until no job waits or runs; every job handled exactly once. */
export async function drain(
  entrant: Entrant,
  { jobs, bytes, processes, analyze }: Work & { processes: number; analyze: boolean },
): Promise<Measured> {
  const { name, ground } = entrant;
  await using stack = new AsyncDisposableStack();
  const filler = stack.use(start(entrant));
  await filler.ask({ do: 'prepare' });
  // A file has one owner: there the process that fills it works, too.
  const isOwner = entryOf(name).needs === 'file';
  const workers = isOwner ? [filler] : Array.from({ length: processes }, () => stack.use(start(entrant)));
  if (!isOwner) await Promise.all(workers.map((worker) => worker.ask({ do: 'connect' })));

  const first = (entryOf(name).slow ? WARM_UP.slow : WARM_UP.fast) * processes;
  await filler.ask({ do: 'bulk', first: 0, count: first, size: BULK, bytes });
  await workUntilDone(workers, ground, { first: 0, jobs: first });
  await Promise.all(workers.map((worker) => worker.ask({ do: 'rest' })));

  await filler.ask({ do: 'bulk', first, count: jobs, size: BULK, bytes });
  // Over HTTP this process has the server; elsewhere it would only be in the way.
  const hasServer = name === 'workron-http';
  if (!isOwner && !hasServer) await filler[Symbol.asyncDispose]();
  await ground.admin?.settle({ analyze });

  const processIds = [...workers, ...(hasServer ? [filler] : [])].map(({ pid }) => pid);
  const read = await meter({ processes: processIds, server: ground.server, admin: ground.admin });
  const startedAt = performance.now();
  await workUntilDone(workers, ground, { first, jobs });
  const ms = performance.now() - startedAt;
  return { figures: [(jobs * 1_000) / ms], usage: await read(jobs) };
}

/** Tells the workers to begin, and resolves once another connection sees that all jobs have ended. */
async function workUntilDone(
  workers: readonly RaceProcess[],
  ground: Ground,
  { first, jobs }: { first: number; jobs: number },
): Promise<void> {
  const startedAt = performance.now();
  await Promise.all(workers.map((worker) => worker.ask({ do: 'work', slots: SLOTS })));
  // The store is looked at only after the handlers have seen all jobs: a look during the drain would cost the contender time.
  for (let handled = await handledBy(workers); handled.count < jobs; handled = await handledBy(workers)) {
    await sleep(lookAgainInMs(handled.count / jobs, performance.now() - startedAt));
  }
  while (await ground.hasUnfinished()) await sleep(LOOK_MS);
  const handled = await handledBy(workers);
  if (handled.count !== jobs || handled.sum !== sumOf(first, jobs)) {
    throw new Error(
      `expected each of ${jobs} jobs to be handled once, got ${handled.count}, some of them twice or others`,
    );
  }
}

/** Half of the time that the rest will take: asking often would cost the slow ones more than the fast ones. */
export function lookAgainInMs(share: number, passedMs: number): number {
  const left = share === 0 ? MAX_LOOK_MS : (passedMs * (1 - share)) / share / 2;
  return Math.min(MAX_LOOK_MS, Math.max(LOOK_MS, left));
}

async function handledBy(workers: readonly RaceProcess[]): Promise<Handled> {
  const all = await Promise.all(workers.map((worker) => worker.ask<Handled>({ do: 'handled' })));
  return all.reduce((total, { count, sum }) => ({ count: total.count + count, sum: total.sum + sum }));
}

function start({ name, ground, settings }: Entrant): RaceProcess {
  return startProcess(name, ground.url, settings);
}

/** Commands per second, submitted to a worker that waits for them. */
export async function shell(entrant: Entrant, { jobs, slots }: { jobs: number; slots: number }): Promise<Measured> {
  const { ground } = entrant;
  await using worker = start(entrant);
  await worker.ask({ do: 'prepare' });
  await worker.ask({ do: 'work', slots });
  const run = async (count: number) => {
    await worker.ask({ do: 'bulk', first: 0, count, size: count, bytes: 20 });
    while (await ground.hasUnfinished()) await sleep(SHELL_LOOK_MS);
  };
  await run(slots);
  const read = await meter({ processes: [worker.pid], server: ground.server, admin: ground.admin });
  const startedAt = performance.now();
  await run(jobs);
  const ms = performance.now() - startedAt;
  return { figures: [(jobs * 1_000) / ms], usage: await read(jobs) };
}

/** Submits per second, one job a call, each resolved after its commit. */
export function singles(entrant: Entrant, { jobs, bytes, inFlight }: Work & { inFlight: number }): Promise<Measured> {
  const warmUp = Math.max(inFlight, Math.floor(jobs / 10));
  return submits(entrant, { jobs, warmUp }, (submitter, first, count) =>
    submitter.ask<number>({ do: 'singles', first, count, inFlight, bytes }),
  );
}

/** Submits per second, a thousand jobs a call, one call after the other. */
export function bulk(entrant: Entrant, { jobs, bytes }: Work): Promise<Measured> {
  return submits(entrant, { jobs, warmUp: WARM_UP_BULKS * BULK }, (submitter, first, count) =>
    submitter.ask<number>({ do: 'bulk', first, count, size: BULK, bytes }),
  );
}

async function submits(
  entrant: Entrant,
  { jobs, warmUp }: { jobs: number; warmUp: number },
  submit: (submitter: RaceProcess, first: number, count: number) => Promise<number>,
): Promise<Measured> {
  const { name, ground } = entrant;
  await using submitter = start(entrant);
  await submitter.ask({ do: 'prepare' });
  await submit(submitter, 0, warmUp);
  await ground.admin?.settle({ analyze: true });
  const read = await meter({ processes: [submitter.pid], server: ground.server, admin: ground.admin });
  const ms = await submit(submitter, warmUp, jobs);
  const usage = await read(jobs);
  const stored = await ground.countUnfinished();
  if (stored !== warmUp + jobs) throw new Error(`${name}: expected ${warmUp + jobs} stored jobs, got ${stored}`);
  return { figures: [(jobs * 1_000) / ms], usage };
}

/** Milliseconds from the call of submit to the start of the handler, on an idle system. */
export async function latency(entrant: Entrant, { jobs, bytes, apart }: Work & { apart: boolean }): Promise<Measured> {
  await using stack = new AsyncDisposableStack();
  const submitter = stack.use(start(entrant));
  await submitter.ask({ do: 'prepare' });
  const worker = apart ? stack.use(start(entrant)) : submitter;
  if (apart) await worker.ask({ do: 'connect' });
  await worker.ask({ do: 'work', slots: SLOTS });
  const submit = async (first: number, count: number, timed: boolean) => {
    await submitter.ask({ do: 'spaced', first, count, everyMs: 8, bytes, timed });
    while ((await handledBy([worker])).count < first + count) await sleep(LOOK_MS);
  };
  await submit(0, WARM_UP_LATENCIES, false);
  await submit(WARM_UP_LATENCIES, jobs, true);
  const { p50, p99 } = await worker.ask<{ p50: number; p99: number }>({ do: 'latencies' });
  // What an idle system costs meanwhile belongs to no job.
  return { figures: [p50, p99], usage: NO_USAGE };
}
