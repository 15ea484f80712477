/** One process of one contender: reads an order per line and replies to each. */

import { createInterface } from 'node:readline';
import { percentile } from '../measure.ts';
import { CONTENDERS, type Contender, type ContenderName, type JobInput } from './contender.ts';

export type Order =
  | { do: 'prepare' | 'connect' | 'count' | 'drained' | 'latencies' }
  | { do: 'bulk'; count: number; size: number }
  | { do: 'singles'; count: number; inFlight: number }
  /** Submits one job at a time on an idle system. */
  | { do: 'spaced'; count: number; everyMs: number }
  | { do: 'work'; slots: number };

const [name, url] = process.argv.slice(2) as [ContenderName, string];
const contender: Contender = await (await CONTENDERS[name].load()).open({ url });
let handled = 0;
const latencies: number[] = [];

const now = () => performance.timeOrigin + performance.now();

function onJob({ at }: JobInput): void {
  handled += 1;
  if (at > 0) latencies.push(now() - at);
}

/** Carries out an order. Returns its duration in milliseconds if it is timed, else its result. */
async function execute(order: Order): Promise<unknown> {
  const startedAt = performance.now();
  switch (order.do) {
    case 'prepare':
      return await contender.prepare();
    case 'connect':
      return await contender.connect();
    case 'count':
      return handled;
    case 'drained':
      return await contender.isDrained();
    case 'latencies':
      return { p50: percentile(latencies, 0.5), p99: percentile(latencies, 0.99), count: latencies.length };
    case 'bulk':
      for (let done = 0; done < order.count; done += order.size) {
        await contender.submitMany(Math.min(order.size, order.count - done));
      }
      return performance.now() - startedAt;
    case 'singles': {
      let left = order.count;
      const submitter = async () => {
        for (; left > 0; await contender.submit({ at: 0 })) left -= 1;
      };
      await Promise.all(Array.from({ length: order.inFlight }, submitter));
      return performance.now() - startedAt;
    }
    case 'spaced':
      for (let done = 0; done < order.count; done += 1) {
        await contender.submit({ at: now() });
        await new Promise((resolve) => setTimeout(resolve, order.everyMs));
      }
      return null;
    case 'work':
      return await contender.work(order.slots, onJob);
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  try {
    process.stdout.write(`${JSON.stringify({ answer: (await execute(JSON.parse(line) as Order)) ?? null })}\n`);
  } catch (error) {
    process.stdout.write(`${JSON.stringify({ error: String(error) })}\n`);
  }
}
await contender[Symbol.asyncDispose]();
process.exit(0);
