/** Percentiles of the histograms of statistics. Imports nothing: the command line and the browser load it without zod. */

export function added(histograms: readonly (readonly number[])[]): number[] {
  const sum: number[] = [];
  for (const histogram of histograms) for (const [i, count] of histogram.entries()) sum[i] = (sum[i] ?? 0) + count;
  return sum;
}

/** The percentile in milliseconds, interpolated within its bucket; `null` if there are no values. */
export function percentile(histogram: readonly number[], bounds: readonly number[], share: number): number | null {
  const total = histogram.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  let left = total * share;
  for (const [index, count] of histogram.entries()) {
    if (count < left) {
      left -= count;
      continue;
    }
    const low = bounds[index - 1] ?? 0;
    const high = bounds[index] ?? low;
    return low + (high - low) * (left / count);
  }
  return bounds.at(-1) ?? 0;
}
