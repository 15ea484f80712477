import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { client } from '../../data/client.ts';
import { useLive } from '../../data/use-live.ts';
import { useStored } from '../../data/use-stored.ts';
import { countText } from '../../words/count.ts';
import { durationText } from '../../words/duration.ts';
import { dayText } from '../../words/instant.ts';
import { type ChartData, chartData, type Metric, RANGES } from './chart-data.ts';
import { TimeChart } from './time-chart.tsx';

const METRICS = [
  ['jobs', 'Throughput'],
  ['wait', 'Wait'],
  ['run', 'Run time'],
] as const;
const STACKS = [
  ['outcome', 'by outcome'],
  ['queue', 'by queue'],
] as const;
/** Steps for a span that was dragged over. */
const STEPS = [60_000, 300_000, 900_000, 7_200_000];
const MAX_BARS = 120;

/** How many jobs ended, how long they waited and how long they ran. Drag to zoom, click for the jobs. */
export function Throughput() {
  const [metric, setMetric] = useStored<Metric>('chart.metric', 'jobs');
  const [chosen, setChosen] = useStored('chart.range', '1h');
  const [by, setBy] = useStored<'outcome' | 'queue'>('chart.by', 'outcome');
  const [zoom, setZoom] = useState<{ from: number; to: number } | null>(null);
  const [asTable, setAsTable] = useState(false);
  const [, go] = useLocation();
  const asked = requestFor(chosen, zoom);
  const stats = useLive({
    key: ['stats', asked.query, by],
    about: { topics: zoom === null ? ['jobs'] : [], restMs: 2_000 },
    keep: true,
    everyMs: 30_000,
    fetch: (signal) => client.readStats({ ...asked.query, by: metric === 'jobs' ? by : 'outcome', signal }),
  });
  const data = stats.data === undefined ? null : chartData(stats.data, asked.stepMs, metric, by);
  const pick = (first: number, last: number): void => {
    if (data === null) return;
    const from = data.times[first] ?? 0;
    const to = (data.times[last] ?? 0) + data.stepMs;
    if (last > first) return setZoom({ from, to });
    const range = new URLSearchParams({ from: new Date(from).toISOString(), to: new Date(to).toISOString() });
    go(`/jobs?${range}`);
  };
  return (
    <section className="card chart" aria-label="Throughput, wait and run time">
      <header className="card-head chart-head">
        <MetricChoice metric={metric} by={by} range={asked.jobs} onMetric={setMetric} onBy={setBy} />
        <span className="spacer" />
        {zoom === null ? (
          <Choice
            label="Time range"
            options={RANGES.map(({ key, title }) => [key, title] as const)}
            chosen={chosen}
            onChoose={setChosen}
          />
        ) : (
          <button type="button" className="small" onClick={() => setZoom(null)}>
            {dayText(zoom.from)} and {durationText(zoom.to - zoom.from)} <span aria-hidden="true">×</span>
            <span className="visually-hidden">: show the whole range</span>
          </button>
        )}
        <button type="button" className="plain" aria-pressed={asTable} onClick={() => setAsTable(!asTable)}>
          Table
        </button>
      </header>
      {data === null ? (
        <div className="chart-place skeleton" />
      ) : (
        <>
          <Legend data={data} metric={metric} />
          {asTable ? <NumberTable data={data} /> : <TimeChart data={data} onPick={pick} />}
        </>
      )}
    </section>
  );
}

interface MetricChoiceProps {
  metric: Metric;
  by: 'outcome' | 'queue';
  /** The range as a filter of jobs. */
  range: URLSearchParams;
  onMetric: (metric: Metric) => void;
  onBy: (by: 'outcome' | 'queue') => void;
}

function MetricChoice({ metric, by, range, onMetric, onBy }: MetricChoiceProps) {
  return (
    <>
      <Choice label="Chart" options={METRICS} chosen={metric} onChoose={(key) => onMetric(key as Metric)} />
      {metric === 'jobs' && (
        <>
          <Choice
            label="Stacked by"
            options={STACKS}
            chosen={by}
            onChoose={(key) => onBy(key as 'outcome' | 'queue')}
          />
          {/* Statistics have no names, of which there may be any number: the newest jobs are counted by name. */}
          <Link href={`/jobs?${range}&by=name`} title="The newest jobs of this time, counted by name">
            Jobs by name <span aria-hidden="true">→</span>
          </Link>
        </>
      )}
    </>
  );
}

/** The request for a range, or for the span that was dragged over. */
function requestFor(chosen: string, zoom: { from: number; to: number } | null) {
  if (zoom === null) {
    const range = RANGES.find(({ key }) => key === chosen) ?? RANGES[0];
    const { from = '1h', step = '1m', stepMs = 60_000 } = range ?? {};
    return { query: { from, step }, stepMs, jobs: new URLSearchParams({ from }) };
  }
  const stepMs = STEPS.find((step) => (zoom.to - zoom.from) / step <= MAX_BARS) ?? 7_200_000;
  const query = {
    from: new Date(zoom.from).toISOString(),
    to: new Date(zoom.to - 1).toISOString(),
    step: `${stepMs / 60_000}m`,
  };
  const jobs = new URLSearchParams({ from: query.from, to: new Date(zoom.to).toISOString() });
  return { query, stepMs, jobs };
}

interface ChoiceProps {
  label: string;
  options: readonly (readonly [string, string])[];
  chosen: string;
  onChoose: (key: string) => void;
}

function Choice({ label, options, chosen, onChoose }: ChoiceProps) {
  return (
    <div className="views" role="group" aria-label={label}>
      {options.map(([key, title]) => (
        <button key={key} type="button" className="view" aria-pressed={key === chosen} onClick={() => onChoose(key)}>
          {title}
        </button>
      ))}
    </div>
  );
}

function Legend({ data, metric }: { data: ChartData; metric: Metric }) {
  const what = { jobs: 'attempts ended', wait: 'from due to start', run: 'from start to end' }[metric];
  return (
    <p className="chart-legend">
      {data.series.map(({ label, tone, summary }) => (
        <span key={label} className="chart-key">
          <span className={`chart-swatch swatch-${tone}`} aria-hidden="true" />
          {label} <b>{summary}</b>
        </span>
      ))}
      <span className="faint">
        {what}; {metric === 'jobs' ? 'one bar is' : 'the numbers are of the latest'} {spanText(data.stepMs)}
      </span>
    </p>
  );
}

function spanText(ms: number): string {
  const minutes = ms / 60_000;
  return minutes < 60 ? countText(minutes, 'minute') : countText(minutes / 60, 'hour');
}

function NumberTable({ data }: { data: ChartData }) {
  const rows = data.times
    .map((time, index) => ({ time, values: data.series.map(({ values }) => values[index] ?? null) }))
    .filter(({ values }) => values.some((value) => value !== null && value > 0));
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls
    <div className="table-frame chart-table" tabIndex={0} role="region" aria-label="Values">
      <table className="table">
        <thead>
          <tr>
            <th scope="col">Time</th>
            {data.series.map(({ label }) => (
              <th key={label} scope="col" className="num">
                {label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.toReversed().map(({ time, values }) => (
            <tr key={time}>
              <th scope="row">{dayText(time)}</th>
              {values.map((value, column) => (
                <td key={data.series[column]?.label} className="num" data-label={data.series[column]?.label}>
                  {value === null ? '–' : data.unit === 'count' ? value : durationText(value)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
