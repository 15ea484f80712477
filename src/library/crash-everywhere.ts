/** Runs a durable function again and again, with a crash after each step that it writes, and compares how it ends. */

import { isDeepStrictEqual } from 'node:util';
import type { Step } from '../core/durable.ts';
import type { Outcome } from '../core/outcome.ts';
import type { Job } from './messages.ts';

/** One run of a job, to its end, with a crash after this many writes of steps; `null`: without. */
export class CrashingRun {
  readonly written: string[] = [];
  /** Steps that had ended, and were done again. */
  readonly repeated: string[] = [];
  readonly #ended = new Set<string>();
  readonly #after: number | null;

  constructor(after: number | null) {
    this.#after = after;
  }

  /** Called when a step is on disk. Returns how the attempt ends, if it crashes there. */
  onStep({ name, endedAt }: Step): Outcome | undefined {
    if (endedAt !== null && this.#ended.has(name)) this.repeated.push(name);
    if (endedAt !== null) this.#ended.add(name);
    this.written.push(name);
    if (this.written.length !== this.#after) return undefined;
    return { type: 'interrupted', error: `the test kit let it crash after the step ${name}` };
  }
}

/** Returns the number of crashes. Rejects with the first that makes a difference. `run` runs a new job to its end. */
export async function crashEverywhere(run: (one: CrashingRun) => Promise<Job>): Promise<number> {
  const calm = new CrashingRun(null);
  const expected = endOf(await run(calm));
  for (let after = 1; after <= calm.written.length; after += 1) {
    const one = new CrashingRun(after);
    const job = await run(one);
    const where = `crash after write ${after}, of the step ${calm.written[after - 1]}`;
    const [again] = one.repeated;
    if (again !== undefined) throw new Error(`${where}: the step ${again} was done again`);
    const [unused] = job.stepsUnused ?? [];
    if (unused !== undefined) throw new Error(`${where}: the function no longer asked for the step ${unused}`);
    const end = endOf(job);
    if (!isDeepStrictEqual(end, expected)) {
      throw new Error(`${where}: expected the end ${JSON.stringify(expected)}, got ${JSON.stringify(end)}`);
    }
  }
  return calm.written.length;
}

function endOf({ status, reason, result }: Job) {
  return { status, reason, result };
}
