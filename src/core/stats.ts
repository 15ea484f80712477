/** Statistics by minute. */

/**
 * The statistics of one minute for one queue and outcome. Histograms use `STAT_BUCKETS_MS` and one more bucket for
 * larger values.
 */
export interface StatRow {
  minute: number;
  instanceId: string;
  queue: string;
  outcome: 'submitted' | 'done' | 'failed' | 'cancelled' | 'skipped' | 'retried';
  count: number;
  wait: readonly number[];
  run: readonly number[];
}

export const STAT_BUCKETS_MS = [
  1, 3, 10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000, 3_600_000,
] as const;
