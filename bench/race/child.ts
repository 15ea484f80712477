/** One process of one contender: reads an order per line, obeys it, and answers it. */

import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { percentile } from '../measure.ts';
import { type Contender, type ContenderName, entryOf, type JobInput } from './contender.ts';
import { inputOf } from './payload.ts';
import type { Settings } from './settings.ts';

export type Order =
  | { do: 'prepare' | 'connect' | 'handled' | 'rest' | 'latencies' }
  /** `first`: the number of the first of these jobs. */
  | { do: 'bulk'; first: number; count: number; size: number; bytes: number }
  | { do: 'singles'; first: number; count: number; inFlight: number; bytes: number }
  /** One at a time, on an idle system. */
  | { do: 'spaced'; first: number; count: number; everyMs: number; bytes: number; timed: boolean }
  | { do: 'work'; slots: number };

/** What the handler has seen since `work`. */
export interface Handled {
  count: number;
  /** Of the jobs' numbers. */
  sum: number;
}

const [name, url, settings] = process.argv.slice(2) as [ContenderName, string, string];
const { open } = await entryOf(name).load();
const contender: Contender = await open({ url, settings: JSON.parse(settings) as Settings });
let handled: Handled = { count: 0, sum: 0 };
const latencies: number[] = [];

const now = () => performance.timeOrigin + performance.now();

function onJob({ at, n }: JobInput): void {
  handled.count += 1;
  handled.sum += n;
  if (at > 0) latencies.push(now() - at);
}

/** Answers with milliseconds for what takes time, else with what was asked for. */
async function obey(order: Order): Promise<unknown> {
  const startedAt = performance.now();
  switch (order.do) {
    case 'prepare':
      return await contender.prepare();
    case 'connect':
      return await contender.connect();
    case 'handled':
      return handled;
    case 'rest':
      return await contender.rest();
    case 'latencies':
      return { p50: percentile(latencies, 0.5), p99: percentile(latencies, 0.99) };
    case 'bulk': {
      const { first, count, size, bytes } = order;
      for (let done = 0; done < count; done += size) {
        const inputs = Array.from({ length: Math.min(size, count - done) }, (_, place) =>
          inputOf(first + done + place, bytes),
        );
        await contender.submitMany(inputs);
      }
      return performance.now() - startedAt;
    }
    case 'singles': {
      const { first, count, inFlight, bytes } = order;
      let next = 0;
      const submitter = async () => {
        while (next < count) {
          next += 1;
          await contender.submit(inputOf(first + next - 1, bytes));
        }
      };
      await Promise.all(Array.from({ length: inFlight }, submitter));
      return performance.now() - startedAt;
    }
    case 'spaced':
      for (let done = 0; done < order.count; done += 1) {
        await contender.submit(inputOf(order.first + done, order.bytes, order.timed ? now() : 0));
        await new Promise((resolve) => setTimeout(resolve, order.everyMs));
      }
      return null;
    case 'work':
      handled = { count: 0, sum: 0 };
      return await contender.work(order.slots, onJob);
  }
}

/** Its standard output belongs to the contender, which may print there. */
const ANSWERS = 3;
const answer = (said: object) => writeSync(ANSWERS, `${JSON.stringify(said)}\n`);

for await (const line of createInterface({ input: process.stdin })) {
  try {
    answer({ answer: (await obey(JSON.parse(line) as Order)) ?? null });
  } catch (error) {
    answer({ error: String(error) });
  }
}
await contender[Symbol.asyncDispose]();
process.exit(0);
