/** Converts statistics to the series of the charts. */

import type { Stats } from '../../../../src/api/stats.ts';

export interface Range {
  key: string;
  title: string;
  from: string;
  step: string;
  stepMs: number;
}

export const RANGES: readonly Range[] = [
  { key: '1h', title: '1 hour', from: '1h', step: '1m', stepMs: 60_000 },
  { key: '6h', title: '6 hours', from: '6h', step: '5m', stepMs: 300_000 },
  { key: '24h', title: '24 hours', from: '24h', step: '15m', stepMs: 900_000 },
  { key: '7d', title: '7 days', from: '7d', step: '2h', stepMs: 7_200_000 },
];

export interface Series {
  /** Epoch seconds, as the chart library expects them. */
  times: number[];
  done: number[];
  failed: number[];
  submitted: number[];
  waitP50: (number | null)[];
  waitP95: (number | null)[];
  runP50: (number | null)[];
  runP95: (number | null)[];
}

/** One value per step, including empty steps. Rates are per minute, percentiles in seconds. */
export function seriesOf(stats: Stats, stepMs: number): Series {
  const first = Math.ceil(Date.parse(stats.from) / stepMs) * stepMs;
  const last = Date.parse(stats.to);
  const series: Series = {
    times: [],
    done: [],
    failed: [],
    submitted: [],
    waitP50: [],
    waitP95: [],
    runP50: [],
    runP95: [],
  };
  const byTime = Map.groupBy(stats.items, ({ minute }) => Date.parse(minute));
  for (let at = first; at <= last; at += stepMs) {
    const items = byTime.get(at) ?? [];
    // The current step counts by the part of it that has passed.
    const minutes = Math.max(1, Math.min(stepMs, last - at) / 60_000);
    const rate = (outcome: string): number =>
      items.filter((item) => item.outcome === outcome).reduce((sum, { count }) => sum + count, 0) / minutes;
    const wait = added(items.map((item) => item.wait));
    const run = added(items.map((item) => item.run));
    series.times.push(at / 1_000);
    series.done.push(rate('done'));
    series.failed.push(rate('failed'));
    series.submitted.push(rate('submitted'));
    series.waitP50.push(percentile(wait, stats.buckets, 0.5));
    series.waitP95.push(percentile(wait, stats.buckets, 0.95));
    series.runP50.push(percentile(run, stats.buckets, 0.5));
    series.runP95.push(percentile(run, stats.buckets, 0.95));
  }
  return series;
}

function added(histograms: readonly (readonly number[])[]): number[] {
  const sum: number[] = [];
  for (const histogram of histograms) for (const [i, count] of histogram.entries()) sum[i] = (sum[i] ?? 0) + count;
  return sum;
}

/** The percentile in seconds, interpolated within its bucket; `null` if there are no values. */
function percentile(histogram: readonly number[], bounds: readonly number[], share: number): number | null {
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
    return (low + (high - low) * (left / count)) / 1_000;
  }
  return (bounds.at(-1) ?? 0) / 1_000;
}
