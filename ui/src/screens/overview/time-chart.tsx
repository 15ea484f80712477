import { type PointerEvent, useEffect, useRef, useState } from 'react';
import { compactText } from '../../words/count.ts';
import { durationText } from '../../words/duration.ts';
import { clockText, dayText, weekdayText } from '../../words/instant.ts';
import { timeTicks, valueTicks } from './axis.ts';
import type { ChartData, Series } from './chart-data.ts';

const HEIGHT = 240;
const TOP = 12;
const BOTTOM = 24;
/** The width of a character of the labels. */
const CHARACTER = 7;
/** A shorter drag is a click. */
const DRAG = 6;

export interface TimeChartProps {
  data: ChartData;
  /** Called with the steps that were clicked or dragged over. */
  onPick: (first: number, last: number) => void;
}

/** Stacked bars or lines over time, with the values under the pointer. */
export function TimeChart({ data, onPick }: TimeChartProps) {
  const frame = useRef<HTMLDivElement>(null);
  const width = useWidth(frame);
  const [hover, setHover] = useState<number | null>(null);
  const [grip, setGrip] = useState<{ index: number; x: number } | null>(null);
  const text = (value: number): string => (data.unit === 'count' ? compactText(value) : durationText(value));
  const ticks = valueTicks(Math.max(1, maxOf(data)), data.unit);
  const left = Math.max(...ticks.map((value) => text(value).length)) * CHARACTER + 10;
  const plot = { left, right: width - 8, top: TOP, bottom: HEIGHT - BOTTOM, max: ticks.at(-1) ?? 1 };
  const step = (plot.right - plot.left) / Math.max(1, data.times.length);
  const indexAt = (event: PointerEvent): number => {
    const box = frame.current?.getBoundingClientRect();
    const place = Math.floor((event.clientX - (box?.left ?? 0) - plot.left) / step);
    return Math.max(0, Math.min(data.times.length - 1, place));
  };
  return (
    <div
      ref={frame}
      className="chart-place"
      onPointerMove={(event) => setHover(indexAt(event))}
      onPointerLeave={() => {
        setHover(null);
        setGrip(null);
      }}
      onPointerDown={(event) => setGrip({ index: indexAt(event), x: event.clientX })}
      onPointerUp={(event) => {
        const to = indexAt(event);
        const from = grip === null || Math.abs(event.clientX - grip.x) < DRAG ? to : grip.index;
        setGrip(null);
        onPick(Math.min(from, to), Math.max(from, to));
      }}
    >
      {width > 0 && (
        <svg width={width} height={HEIGHT} aria-hidden="true">
          <Axes plot={plot} ticks={ticks} text={text} times={data.times} stepMs={data.stepMs} />
          <Pointed plot={plot} step={step} from={grip?.index ?? null} to={hover} />
          {data.kind === 'bars' ? (
            <Bars series={data.series} plot={plot} step={step} />
          ) : (
            <Lines series={data.series} plot={plot} step={step} />
          )}
        </svg>
      )}
      {hover !== null && <Values data={data} index={hover} text={text} x={plot.left + (hover + 0.5) * step} />}
    </div>
  );
}

interface Plot {
  left: number;
  right: number;
  top: number;
  bottom: number;
  /** The value at the top. */
  max: number;
}

function yOf(value: number, { top, bottom, max }: Plot): number {
  return bottom - (value / max) * (bottom - top);
}

/** The step under the pointer, or the steps that are dragged over. */
function Pointed({ plot, step, from, to }: { plot: Plot; step: number; from: number | null; to: number | null }) {
  if (to === null) return null;
  const first = from === null ? to : Math.min(from, to);
  const last = from === null ? to : Math.max(from, to);
  return (
    <rect
      className={last > first ? 'chart-brush' : 'chart-hover'}
      x={plot.left + first * step}
      y={plot.top}
      width={(last - first + 1) * step}
      height={plot.bottom - plot.top}
    />
  );
}

interface AxesProps {
  plot: Plot;
  ticks: readonly number[];
  text: (value: number) => string;
  times: readonly number[];
  stepMs: number;
}

function Axes({ plot, ticks, text, times, stepMs }: AxesProps) {
  const from = times[0] ?? 0;
  const to = (times.at(-1) ?? 0) + stepMs;
  const xOf = (at: number): number => plot.left + ((at - from) / Math.max(1, to - from)) * (plot.right - plot.left);
  const labels = timeTicks(from, to, Math.max(2, Math.floor((plot.right - plot.left) / 90)));
  return (
    <g className="chart-axes">
      {ticks.map((value) => (
        <g key={value}>
          <line x1={plot.left} x2={plot.right} y1={yOf(value, plot)} y2={yOf(value, plot)} />
          <text x={plot.left - 8} y={yOf(value, plot) + 4} textAnchor="end">
            {text(value)}
          </text>
        </g>
      ))}
      {labels
        .filter((at) => xOf(at) > plot.left + 18 && xOf(at) < plot.right - 22)
        .map((at) => (
          <text key={at} x={xOf(at)} y={plot.bottom + 18} textAnchor="middle">
            {new Date(at).getHours() === 0 && new Date(at).getMinutes() === 0 ? weekdayText(at) : clockText(at)}
          </text>
        ))}
    </g>
  );
}

function Bars({ series, plot, step }: { series: readonly Series[]; plot: Plot; step: number }) {
  const gap = step > 6 ? 2 : step > 3 ? 1 : 0;
  const count = series[0]?.values.length ?? 0;
  return Array.from({ length: count }, (_, index) => {
    let below = 0;
    return series.map(({ label, tone, values }) => {
      const value = values[index] ?? 0;
      if (value === 0) return null;
      // A single failure among thousands must still be seen.
      const height = Math.max(2, yOf(below, plot) - yOf(below + value, plot));
      const y = yOf(below, plot) - height;
      below += value;
      return (
        <rect
          key={`${label} ${index}`}
          className={`bar bar-${tone}`}
          x={plot.left + index * step + gap / 2}
          y={y}
          width={Math.max(1, step - gap)}
          height={height}
          rx={step > 8 ? 1.5 : 0}
        />
      );
    });
  });
}

/** Steps without a value are gaps: a line is drawn between neighbours only. */
function Lines({ series, plot, step }: { series: readonly Series[]; plot: Plot; step: number }) {
  return series.map(({ label, tone, values }) => {
    const point = (index: number): string => `${plot.left + (index + 0.5) * step} ${yOf(values[index] ?? 0, plot)}`;
    const path = values
      .map((value, index) => (value === null ? '' : `${values[index - 1] == null ? 'M' : 'L'}${point(index)}`))
      .join('');
    return (
      <g key={label}>
        <path className={`line line-${tone}`} d={path} />
        {values.map(
          (value, index) =>
            value !== null && (
              <circle
                // biome-ignore lint/suspicious/noArrayIndexKey: the place is the name
                key={index}
                className={`dot dot-${tone}`}
                cx={plot.left + (index + 0.5) * step}
                cy={yOf(value, plot)}
                r={2.5}
              />
            ),
        )}
      </g>
    );
  });
}

interface ValuesProps {
  data: ChartData;
  index: number;
  text: (value: number) => string;
  x: number;
}

function Values({ data, index, text, x }: ValuesProps) {
  const at = data.times[index] ?? 0;
  return (
    <div className={x > 320 ? 'chart-tip chart-tip-left' : 'chart-tip'} style={{ left: x }}>
      <b>
        {dayText(at)} – {clockText(at + data.stepMs)}
      </b>
      {data.series.toReversed().map(({ label, tone, values }) => (
        <span key={label} className="chart-key">
          <span className={`chart-swatch swatch-${tone}`} />
          {label}
          <b>{values[index] == null ? '–' : text(values[index])}</b>
        </span>
      ))}
    </div>
  );
}

function maxOf({ kind, times, series }: ChartData): number {
  if (kind === 'lines') return Math.max(0, ...series.flatMap(({ values }) => values.map((value) => value ?? 0)));
  return Math.max(0, ...times.map((_, index) => series.reduce((sum, { values }) => sum + (values[index] ?? 0), 0)));
}

function useWidth(frame: { current: HTMLElement | null }): number {
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const element = frame.current;
    if (element === null) return;
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    observer.observe(element);
    setWidth(element.clientWidth);
    return () => observer.disconnect();
  }, [frame]);
  return width;
}
