import type { StatRow } from '../../../core/stats.ts';
import type { Tables } from '../base/tables.ts';

/** Stored as a sum over instances: a process has one instance, and no reader needs a single one. */
export function addStats(tables: Tables, rows: readonly StatRow[]): void {
  for (const row of rows) {
    const key = JSON.stringify([row.minute, row.queue, row.outcome]);
    const sum = tables.stats.get(key);
    tables.stats.set(key, {
      ...row,
      instanceId: '',
      count: row.count + (sum?.count ?? 0),
      wait: added(row.wait, sum?.wait),
      run: added(row.run, sum?.run),
    });
  }
}

export function stats(tables: Tables, { from, to }: { from: number; to: number }): StatRow[] {
  return [...tables.stats.values()]
    .filter((row) => row.minute >= from && row.minute < to)
    .sort((a, b) => a.minute - b.minute || compare(a.queue, b.queue) || compare(a.outcome, b.outcome))
    .map((row) => ({ ...row, wait: [...row.wait], run: [...row.run] }));
}

function added(histogram: readonly number[], other: readonly number[] = []): number[] {
  return histogram.map((count, bucket) => count + (other[bucket] ?? 0));
}

function compare(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}
