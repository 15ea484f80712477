/** The dashboard's lists and filters on the jobs of million.ts. */

import { percentile } from '../measure.ts';
import { processorTimeUs } from '../processor-time.ts';

export const QUESTIONS: readonly [what: string, query: string][] = [
  ['list', ''],
  ['status', 'status=failed'],
  ['queue', 'queue=queue-7'],
  ['status and queue', 'status=failed&queue=queue-10'],
  ['name', 'name=needle'],
  ['name that is not there', 'name=nobody'],
  ['tag', 'tag=rare'],
  ['worker', 'worker_id=3'],
  ['reason', 'reason=exit'],
  ['last hour', 'from=1h'],
  ['nothing so late', 'from=0s'],
  ['one day of four', 'from=3d&to=2d'],
  ['text', 'q=echo%20999'],
  ['text that is not there', 'q=no%20such%20thing'],
];

const ROUNDS = 20;
/** Fewer rounds for slow queries. */
const MAX_MS = 20_000;

export interface Answered {
  /** The 95th percentile, one request after the other. Infinite if a request fails. */
  p95Ms: number;
  /** The processor time of the processes under `roots`, per request. Other load on the machine changes it least. */
  processorMs: number;
}

export async function askOften(url: string, query: string, roots: readonly number[] = []): Promise<Answered> {
  const times: number[] = [];
  await ask(url, query);
  const until = performance.now() + MAX_MS;
  const before = processorTimeUs(roots);
  while (times.length === 0 || (times.length < ROUNDS && performance.now() < until)) times.push(await ask(url, query));
  return {
    p95Ms: percentile(times, 0.95),
    processorMs: (processorTimeUs(roots) - before) / 1_000 / times.length,
  };
}

async function ask(url: string, query: string): Promise<number> {
  const startedAt = performance.now();
  const response = await fetch(`${url}/jobs?limit=100&${query}`);
  await response.arrayBuffer();
  return response.ok ? performance.now() - startedAt : Number.POSITIVE_INFINITY;
}
