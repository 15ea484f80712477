/** Figures of repeated rounds: the median and the spread. */

export interface Figure {
  what: string;
  store: string;
  unit: string;
  values: number[];
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1
    ? (sorted[middle] as number)
    : ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2;
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] as number;
}

export function format(value: number): string {
  if (value >= 100) return Math.round(value).toLocaleString('en-US');
  return value.toPrecision(3);
}

export function table(figures: readonly Figure[]): string {
  const rows = figures.map(({ what, store, unit, values }) => [
    what,
    store,
    format(median(values)),
    unit,
    values.length > 1 ? `${format(Math.min(...values))} … ${format(Math.max(...values))}` : '',
  ]);
  rows.unshift(['what', 'store', 'median', 'unit', 'spread']);
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** The rate per second of `count` jobs. */
export async function rate(count: number, body: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await body();
  return (count * 1_000) / (performance.now() - start);
}
