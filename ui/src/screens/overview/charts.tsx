import { useState } from 'react';
import type { Stats } from '../../../../src/api/stats.ts';
import { client } from '../../data/client.ts';
import { useLive } from '../../data/use-live.ts';
import { useStored } from '../../data/use-stored.ts';
import { compactText } from '../../words/count.ts';
import { durationText } from '../../words/duration.ts';
import { clockText } from '../../words/instant.ts';
import { Chart, type Line } from './chart.tsx';
import { RANGES, type Series, seriesOf } from './chart-data.ts';

const perMinute = (value: number): string =>
  value === 0 ? '0' : value < 10 ? value.toFixed(1) : String(Math.round(value));
const seconds = (value: number): string => (value === 0 ? '0' : durationText(value * 1_000));

const last = (values: readonly (number | null)[]): string => {
  const value = values.findLast((each) => each !== null);
  return value == null ? '–' : seconds(value);
};

/** Throughput, waiting time and run time over time, updated live. */
export function Charts() {
  const [chosen, setChosen] = useStored('chart.range', '1h');
  const [asTable, setAsTable] = useState(false);
  const range = RANGES.find(({ key }) => key === chosen) ?? RANGES[0];
  const stats = useLive({
    key: ['stats', range?.key],
    about: { topics: ['jobs'], restMs: 2_000 },
    keep: true,
    everyMs: 30_000,
    fetch: (signal) => client.stats({ from: range?.from ?? '1h', step: range?.step ?? '1m', by: 'outcome', signal }),
  });
  const series = stats.data === undefined ? undefined : seriesOf(stats.data, range?.stepMs ?? 60_000);
  const charts = stats.data === undefined || series === undefined ? [] : chartsOf(series, stats.data.totals);
  return (
    <section className="charts" aria-label="Charts">
      <div className="chart-tools">
        <RangeChoice chosen={range?.key} onChoose={setChosen} />
        <button type="button" className="plain" aria-pressed={asTable} onClick={() => setAsTable(!asTable)}>
          As a table
        </button>
      </div>
      {asTable && series !== undefined ? (
        <NumberTable series={series} />
      ) : (
        <div className="chart-row">
          {charts.map((chart) => (
            <Chart key={chart.title} {...chart} times={series?.times ?? []} />
          ))}
          {charts.length === 0 && <div className="charts-space" />}
        </div>
      )}
    </section>
  );
}

interface ChartInput {
  title: string;
  unit: string;
  lines: Line[];
  format: (value: number) => string;
}

function chartsOf(series: Series, totals: Stats['totals']): ChartInput[] {
  const total = (outcome: 'submitted' | 'done' | 'failed'): string => compactText(totals[outcome]);
  return [
    {
      title: 'Throughput',
      unit: 'per minute',
      format: perMinute,
      lines: [
        { label: 'submitted', tone: 'grey', values: series.submitted, summary: total('submitted') },
        { label: 'done', tone: 'green', values: series.done, summary: total('done') },
        { label: 'failed', tone: 'red', values: series.failed, summary: total('failed') },
      ],
    },
    {
      title: 'Waiting',
      unit: 'due to start',
      format: seconds,
      lines: [
        { label: 'half of the jobs', tone: 'blue', values: series.waitP50, summary: last(series.waitP50) },
        { label: '95 %', tone: 'amber', values: series.waitP95, summary: last(series.waitP95) },
      ],
    },
    {
      title: 'Run time',
      unit: 'start to end',
      format: seconds,
      lines: [
        { label: 'half of the jobs', tone: 'blue', values: series.runP50, summary: last(series.runP50) },
        { label: '95 %', tone: 'amber', values: series.runP95, summary: last(series.runP95) },
      ],
    },
  ];
}

function RangeChoice({ chosen, onChoose }: { chosen: string | undefined; onChoose: (key: string) => void }) {
  return (
    <div className="views" role="group" aria-label="Time range">
      {RANGES.map(({ key, title }) => (
        <button key={key} type="button" className="view" aria-pressed={key === chosen} onClick={() => onChoose(key)}>
          {title}
        </button>
      ))}
    </div>
  );
}

function NumberTable({ series }: { series: Series }) {
  const some = series.times
    .map((time, index) => ({ time, index }))
    .filter(
      ({ index }) => (series.submitted[index] ?? 0) + (series.done[index] ?? 0) + (series.failed[index] ?? 0) > 0,
    );
  return (
    <div className="table-frame chart-table">
      <table className="table">
        <thead>
          <tr>
            {['Time', 'Submitted/min', 'Done/min', 'Failed/min', 'Wait p50', 'Wait p95', 'Run p50', 'Run p95'].map(
              (title) => (
                <th key={title} scope="col">
                  {title}
                </th>
              ),
            )}
          </tr>
        </thead>
        <tbody>
          {some.toReversed().map(({ time, index }) => (
            <tr key={time}>
              <th scope="row">{clockText(time * 1_000)}</th>
              {[series.submitted, series.done, series.failed].map((values, column) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: columns have no other name
                <td key={column}>{perMinute(values[index] ?? 0)}</td>
              ))}
              {[series.waitP50, series.waitP95, series.runP50, series.runP95].map((values, column) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: columns have no other name
                <td key={column}>{values[index] == null ? '–' : seconds(values[index])}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
