/** Converts statistics to the series of the chart. */

import { added, percentile } from '../../../../src/api/percentile.ts';
import type { Stats } from '../../../../src/api/stats.ts';
import { countText, numberText } from '../../words/count.ts';
import { durationText } from '../../words/duration.ts';
import { visibleLine } from '../../words/visible-text.ts';

export interface Range {
  key: string;
  title: string;
  from: string;
  step: string;
  stepMs: number;
}

export const RANGES: readonly Range[] = [
  { key: '1h', title: '1 h', from: '1h', step: '1m', stepMs: 60_000 },
  { key: '6h', title: '6 h', from: '6h', step: '5m', stepMs: 300_000 },
  { key: '24h', title: '24 h', from: '24h', step: '15m', stepMs: 900_000 },
  { key: '7d', title: '7 d', from: '7d', step: '2h', stepMs: 7_200_000 },
];

export type Metric = 'jobs' | 'wait' | 'run';

export interface Series {
  label: string;
  tone: string;
  /** One per time; `null`: no value, which leaves a gap. */
  values: (number | null)[];
  /** The sum over the range, or the latest value. */
  summary: string;
}

export interface ChartData {
  kind: 'bars' | 'lines';
  unit: 'count' | 'duration';
  stepMs: number;
  /** The starts of the steps. */
  times: number[];
  series: Series[];
}

const MAX_QUEUES = 6;

/** `stepMs` must be the step that the statistics were asked with. */
export function chartData(stats: Stats, stepMs: number, metric: Metric, by: 'outcome' | 'queue'): ChartData {
  const times = timesOf(stats, stepMs);
  const base = { stepMs, times };
  if (metric === 'jobs') {
    const series = by === 'queue' ? byQueue(stats, times) : byOutcome(stats, times);
    return { ...base, kind: 'bars', unit: 'count', series };
  }
  const rows = Map.groupBy(stats.items, ({ minute }) => Date.parse(minute));
  const at = (share: number) =>
    times.map((time) => percentile(added((rows.get(time) ?? []).map((item) => item[metric])), stats.buckets, share));
  const line = (label: string, tone: string, values: (number | null)[]): Series => {
    const last = values.findLast((value) => value !== null);
    return { label, tone, values, summary: last == null ? '–' : durationText(last) };
  };
  return {
    ...base,
    kind: 'lines',
    unit: 'duration',
    series: [line('p50', 'blue', at(0.5)), line('p95', 'amber', at(0.95))],
  };
}

function timesOf({ from, to }: Stats, stepMs: number): number[] {
  const times: number[] = [];
  for (let at = Math.floor(Date.parse(from) / stepMs) * stepMs; at <= Date.parse(to); at += stepMs) times.push(at);
  return times;
}

type Item = Stats['items'][number];

function counted(items: readonly Item[], times: readonly number[]): number[] {
  const rows = Map.groupBy(items, ({ minute }) => Date.parse(minute));
  return times.map((time) => (rows.get(time) ?? []).reduce((sum, { count }) => sum + count, 0));
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}

function byOutcome({ items }: Stats, times: readonly number[]): Series[] {
  return (
    [
      ['done', 'green'],
      ['failed', 'red'],
    ] as const
  ).map(([outcome, tone]) => {
    const values = counted(
      items.filter((item) => item.outcome === outcome),
      times,
    );
    return { label: outcome, tone, values, summary: numberText(sumOf(values)) };
  });
}

/** The busiest queues, and all others together. */
function byQueue({ items }: Stats, times: readonly number[]): Series[] {
  const ended = items.filter(({ outcome }) => outcome === 'done' || outcome === 'failed');
  const queues = [...Map.groupBy(ended, ({ queue }) => queue)]
    .map(([queue, own]) => ({ queue, values: counted(own, times) }))
    .sort((a, b) => sumOf(b.values) - sumOf(a.values));
  const rest = queues.slice(MAX_QUEUES);
  const shown = queues.slice(0, MAX_QUEUES).map(({ queue, values }) => ({ label: visibleLine(queue), values }));
  if (rest.length > 0) {
    const values = times.map((_, place) => sumOf(rest.map((each) => each.values[place] ?? 0)));
    shown.push({ label: countText(rest.length, 'other'), values });
  }
  return shown.map(({ label, values }, place) => ({
    label,
    tone: `series-${place + 1}`,
    values,
    summary: numberText(sumOf(values)),
  }));
}
