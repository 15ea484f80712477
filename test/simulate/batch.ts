/** The thread that tries some seeds. */

import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { planOf } from './plan.ts';
import { simulate } from './simulate.ts';

export interface Batch {
  from: number;
  to: number;
  /** Stop at the first seed that breaks a rule. */
  first: boolean;
}

export interface BatchEnd {
  seeds: number;
  events: number;
  virtualMs: number;
  broken: { seed: number; rule: string }[];
}

const { from, to, first } = workerData as Batch;
const end: BatchEnd = { seeds: 0, events: 0, virtualMs: 0, broken: [] };
for (let seed = from; seed <= to; seed += 1) {
  const { violation, events, virtualMs } = await simulate(planOf(seed));
  end.seeds += 1;
  end.events += events;
  end.virtualMs += virtualMs;
  if (violation === undefined) continue;
  end.broken.push({ seed, rule: violation.rule });
  if (first) break;
}
(parentPort as MessagePort).postMessage(end, []);
