/** The dashboard's lists and filters on the jobs of million.ts. */

import { percentile } from '../measure.ts';

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

/** The 95th percentile in milliseconds, one request after the other. A reply without jobs counts as infinite. */
export async function p95Of(url: string, query: string): Promise<number> {
  const times: number[] = [];
  const until = performance.now() + MAX_MS;
  for (let round = -1; round < ROUNDS && (round < 1 || performance.now() < until); round += 1) {
    const startedAt = performance.now();
    const response = await fetch(`${url}/jobs?limit=100&${query}`);
    await response.arrayBuffer();
    if (!response.ok) return Number.POSITIVE_INFINITY;
    // The first request is a warm-up.
    if (round >= 0) times.push(performance.now() - startedAt);
  }
  return percentile(times, 0.95);
}
