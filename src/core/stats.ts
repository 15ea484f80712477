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

const MINUTE_MS = 60_000;

/** Sums statistics into fewer rows: minutes by `stepMs`, and all queues unless `queues`. */
export function sumStats(rows: readonly StatRow[], { stepMs, queues }: { stepMs: number; queues: boolean }): StatRow[] {
  if (stepMs <= MINUTE_MS && queues) return [...rows];
  const sums = new Map<string, StatRow>();
  for (const row of rows) {
    const minute = Math.floor(row.minute / stepMs) * stepMs;
    const queue = queues ? row.queue : '*';
    const key = JSON.stringify([minute, queue, row.outcome]);
    const sum = sums.get(key);
    sums.set(
      key,
      sum === undefined
        ? { ...row, minute, queue }
        : { ...sum, count: sum.count + row.count, wait: added(sum.wait, row.wait), run: added(sum.run, row.run) },
    );
  }
  return [...sums.values()];
}

function added(a: readonly number[], b: readonly number[]): number[] {
  return Array.from({ length: Math.max(a.length, b.length) }, (_, i) => (a[i] ?? 0) + (b[i] ?? 0));
}
