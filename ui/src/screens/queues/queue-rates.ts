/** Rate, waiting time and time to empty of queues, from the statistics of the last hour. */

import { added, percentile } from '../../../../src/api/percentile.ts';
import type { Queue } from '../../../../src/api/queue.ts';
import type { Stats } from '../../../../src/api/stats.ts';
import { client } from '../../data/client.ts';
import { useLive } from '../../data/use-live.ts';

export interface QueueRate {
  /** Ended attempts per minute, over the last ten minutes. */
  perMinute: number;
  /** It has run for longer than those ten minutes, so the rate is no guess. */
  isSteady: boolean;
  failedPerHour: number;
  waitP95Ms: number | null;
  /** Ended attempts in each of 12 spans of five minutes. */
  trend: number[];
}

const STEP_MS = 300_000;
const STEPS = 12;
const RATE_STEPS = 2;

/** The rates by queue; a queue that ran nothing in the last hour has none. */
export function useQueueRates(): ReadonlyMap<string, QueueRate> {
  const stats = useLive({
    key: ['stats', 'queues'],
    about: { topics: ['jobs'], restMs: 4_000 },
    everyMs: 30_000,
    fetch: (signal) => client.readStats({ from: '1h', step: '5m', by: 'queue', signal }),
  });
  return stats.data === undefined ? new Map() : ratesOf(stats.data);
}

function ratesOf(stats: Stats): Map<string, QueueRate> {
  const to = Date.parse(stats.to);
  const first = Math.floor(to / STEP_MS) * STEP_MS - (STEPS - 1) * STEP_MS;
  const ended = stats.items.filter(({ outcome }) => outcome === 'done' || outcome === 'failed');
  return new Map(
    [...Map.groupBy(ended, ({ queue }) => queue)].map(([queue, items]) => {
      const trend = Array.from({ length: STEPS }, (_, step) =>
        items
          .filter(({ minute }) => Date.parse(minute) === first + step * STEP_MS)
          .reduce((sum, { count }) => sum + count, 0),
      );
      const recent = trend.slice(-RATE_STEPS).reduce((sum, count) => sum + count, 0);
      const minutes = (to - (first + (STEPS - RATE_STEPS) * STEP_MS)) / 60_000;
      const failed = items.filter(({ outcome }) => outcome === 'failed').reduce((sum, { count }) => sum + count, 0);
      return [
        queue,
        {
          perMinute: recent / Math.max(1, minutes),
          isSteady: trend.slice(0, -RATE_STEPS).some((count) => count > 0),
          failedPerHour: failed,
          waitP95Ms: percentile(added(items.map(({ wait }) => wait)), stats.buckets, 0.95),
          trend,
        },
      ];
    }),
  );
}

/** The time until the queue is empty at its present rate; `null` if it is not known. */
export function etaMs({ pending, paused }: Queue, rate: QueueRate | undefined): number | null {
  if (pending === 0 || paused || rate?.isSteady !== true || rate.perMinute === 0) return null;
  return (pending / rate.perMinute) * 60_000;
}

export function rateText(rate: QueueRate | undefined): string {
  if (rate === undefined || rate.perMinute === 0) return '0/min';
  return `${rate.perMinute < 10 ? rate.perMinute.toFixed(1) : Math.round(rate.perMinute)}/min`;
}
