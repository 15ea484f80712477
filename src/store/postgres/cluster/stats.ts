import type { StatRow } from '../../../core/stats.ts';
import type { Context } from '../base/context.ts';
import { numbers } from '../base/values.ts';

export async function addStats(
  { database, sql }: Context,
  rows: readonly StatRow[],
  signal: AbortSignal,
): Promise<void> {
  signal.throwIfAborted();
  // One statement cannot add to a row twice.
  const sums = summed(rows, (row) => row.instanceId);
  if (sums.length === 0) return;
  await database.query(
    sql.addStats,
    [
      numbers(sums.map(({ minute }) => minute)),
      sums.map(({ instanceId }) => instanceId),
      sums.map(({ queue }) => queue),
      sums.map(({ outcome }) => outcome),
      numbers(sums.map(({ count }) => count)),
      sums.map(({ wait }) => numbers(wait)),
      sums.map(({ run }) => numbers(run)),
    ],
    signal,
  );
}

export async function stats(
  { database, sql }: Context,
  { from, to }: { from: number; to: number },
  signal: AbortSignal,
): Promise<StatRow[]> {
  const rows = await database.query<StatRow>(sql.stats, [from, to], signal);
  const sums = summed(rows, () => '');
  return sums.sort((a, b) => a.minute - b.minute || compare(a.queue, b.queue) || compare(a.outcome, b.outcome));
}

function summed(rows: readonly StatRow[], instanceOf: (row: StatRow) => string): StatRow[] {
  const sums = new Map<string, StatRow>();
  for (const row of rows) {
    const instanceId = instanceOf(row);
    const key = JSON.stringify([row.minute, instanceId, row.queue, row.outcome]);
    const sum = sums.get(key);
    sums.set(key, {
      ...row,
      instanceId,
      count: row.count + (sum?.count ?? 0),
      wait: added(row.wait, sum?.wait),
      run: added(row.run, sum?.run),
    });
  }
  return [...sums.values()];
}

function added(histogram: readonly number[], other: readonly number[] = []): number[] {
  return histogram.map((count, bucket) => count + (other[bucket] ?? 0));
}

function compare(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}
