/** Statistics by minute. */

export const STAT_OUTCOMES = ['submitted', 'done', 'failed', 'cancelled', 'skipped', 'retried'] as const;

/** The statistics of one minute, queue and outcome. Histograms have one more bucket than `STAT_BUCKETS_MS`. */
export interface StatRow {
  minute: number;
  instanceId: string;
  queue: string;
  outcome: (typeof STAT_OUTCOMES)[number];
  count: number;
  wait: readonly number[];
  run: readonly number[];
}

export const STAT_BUCKETS_MS = [
  1, 3, 10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000, 3_600_000,
] as const;
