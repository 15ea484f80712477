import type { StatRow } from '../core/stats.ts';

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
