/** The measurements of the race. Each call is one round of one contender; higher is better except for latencies. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { ContenderName } from './contender.ts';
import { type RaceProcess, startProcess } from './process.ts';

const SLOTS = 24;
const BULK = 1_000;
/** Polling the store costs more than a command. A command more or less in ten milliseconds is within the spread. */
const SHELL_LOOK_MS = 10;

/** Jobs per second from a full queue until the store has no waiting or running job. Every job is handled exactly once. */
export async function drain(
  name: ContenderName,
  url: string,
  { jobs, processes }: { jobs: number; processes: number },
) {
  await using stack = new AsyncDisposableStack();
  const filler = stack.use(startProcess(name, url));
  await filler.ask({ do: 'prepare' });
  await filler.ask({ do: 'bulk', count: jobs, size: BULK });
  // A file has one owner: the process that filled it also works.
  const workers =
    name === 'workron-sqlite' ? [filler] : Array.from({ length: processes }, () => stack.use(startProcess(name, url)));
  if (name !== 'workron-sqlite') await Promise.all(workers.map((worker) => worker.ask({ do: 'connect' })));
  const startedAt = performance.now();
  await Promise.all(workers.map((worker) => worker.ask({ do: 'work', slots: SLOTS })));
  await handledBy(workers, jobs);
  while (!(await filler.ask<boolean>({ do: 'drained' }))) await sleep(1);
  const ms = performance.now() - startedAt;
  const handled = await countOf(workers);
  if (handled !== jobs) throw new Error(`${name} handled ${handled} of ${jobs} jobs`);
  return (jobs * 1_000) / ms;
}

async function handledBy(workers: readonly RaceProcess[], jobs: number): Promise<void> {
  while ((await countOf(workers)) < jobs) await sleep(5);
}

async function countOf(workers: readonly RaceProcess[]): Promise<number> {
  const counts = await Promise.all(workers.map((worker) => worker.ask<number>({ do: 'count' })));
  return counts.reduce((sum, count) => sum + count, 0);
}

/** Commands per second, submitted to a running worker. */
export async function shell(name: ContenderName, url: string, { jobs, slots }: { jobs: number; slots: number }) {
  await using worker = startProcess(name, url);
  await worker.ask({ do: 'prepare' });
  await worker.ask({ do: 'work', slots });
  await worker.ask({ do: 'bulk', count: slots, size: slots });
  const drained = async () => {
    while (!(await worker.ask<boolean>({ do: 'drained' }))) await sleep(SHELL_LOOK_MS);
  };
  await drained();
  const startedAt = performance.now();
  await worker.ask({ do: 'bulk', count: jobs, size: jobs });
  await drained();
  return (jobs * 1_000) / (performance.now() - startedAt);
}

/** Submits per second, one job per call, each resolved after its commit. */
export async function singles(
  name: ContenderName,
  url: string,
  { jobs, inFlight }: { jobs: number; inFlight: number },
) {
  await using submitter = startProcess(name, url);
  await submitter.ask({ do: 'prepare' });
  await submitter.ask({ do: 'singles', count: inFlight, inFlight });
  return (jobs * 1_000) / (await submitter.ask<number>({ do: 'singles', count: jobs, inFlight }));
}

/** Jobs submitted per second, a thousand per call. */
export async function bulk(name: ContenderName, url: string, { jobs }: { jobs: number }) {
  await using submitter = startProcess(name, url);
  await submitter.ask({ do: 'prepare' });
  return (jobs * 1_000) / (await submitter.ask<number>({ do: 'bulk', count: jobs, size: BULK }));
}

/** Milliseconds from the call of submit to the start of the handler, on an idle system. */
export async function latency(name: ContenderName, url: string, { jobs, apart }: { jobs: number; apart: boolean }) {
  await using stack = new AsyncDisposableStack();
  const submitter = stack.use(startProcess(name, url));
  await submitter.ask({ do: 'prepare' });
  const worker = apart ? stack.use(startProcess(name, url)) : submitter;
  if (apart) await worker.ask({ do: 'connect' });
  await worker.ask({ do: 'work', slots: SLOTS });
  await submitter.ask({ do: 'spaced', count: 20, everyMs: 8 });
  await submitter.ask({ do: 'spaced', count: jobs, everyMs: 8 });
  await handledBy([worker], jobs + 20);
  return await worker.ask<{ p50: number; p99: number }>({ do: 'latencies' });
}
