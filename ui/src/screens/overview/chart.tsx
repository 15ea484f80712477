import { useEffect, useRef, useSyncExternalStore } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { currentTheme, onTheme } from '../../shell/theme.ts';
import { clockText } from '../../words/instant.ts';

export interface Line {
  label: string;
  tone: string;
  values: readonly (number | null)[];
  /** The text in the legend. */
  summary: string;
}

export interface ChartProps {
  title: string;
  unit: string;
  times: readonly number[];
  lines: readonly Line[];
  format: (value: number) => string;
}

const HEIGHT = 150;

/** Lines over time. The legend below has the same information as text. */
export function Chart({ title, unit, times, lines, format }: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const theme = useSyncExternalStore(onTheme, currentTheme);
  const data = [times, ...lines.map(({ values }) => values)] as uPlot.AlignedData;
  const latest = useRef(data);
  latest.current = data;
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const made = new uPlot(optionsFor(element, lines, format), latest.current, element);
    plot.current = made;
    const observer = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height: HEIGHT }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      made.destroy();
      plot.current = null;
    };
    // A new theme creates a new chart; new values update the existing one.
  }, [theme]);
  useEffect(() => plot.current?.setData(latest.current), [times, lines]);
  return (
    <figure className="card chart">
      <figcaption>
        <b>{title}</b> <span className="faint">{unit}</span>
        <span className="chart-legend">
          {lines.map(({ label, tone, summary }) => (
            <span key={label} className="chart-key">
              <span className={`chart-swatch fill-${tone}`} aria-hidden="true" />
              {label} <b>{summary}</b>
            </span>
          ))}
        </span>
      </figcaption>
      <div ref={place} className="chart-place" aria-hidden="true" />
    </figure>
  );
}

function optionsFor(element: HTMLElement, lines: readonly Line[], format: (value: number) => string): uPlot.Options {
  const style = getComputedStyle(element);
  const colour = (name: string): string => style.getPropertyValue(name).trim();
  const axis = {
    stroke: colour('--chart-text'),
    grid: { stroke: colour('--chart-grid'), width: 1 },
    ticks: { show: false },
  };
  return {
    width: element.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    cursor: { y: false, points: { size: 6 } },
    scales: { y: { range: (_plot, _min, max) => [0, Math.max(max * 1.1, 0.001)] } },
    axes: [
      { ...axis, font: '11px system-ui', size: 26, space: 60, values: (_plot, times) => times.map(axisText) },
      { ...axis, font: '11px system-ui', size: 46, values: (_plot, values) => values.map(format) },
    ],
    series: [
      {},
      ...lines.map(({ label, tone }) => ({
        label,
        stroke: colour(`--chart-${tone}`),
        width: 2,
        points: { show: true, size: 3 },
        spanGaps: true,
      })),
    ],
  };
}

/** The hour, or the day at midnight. */
function axisText(seconds: number): string {
  const at = new Date(seconds * 1_000);
  return at.getHours() === 0 && at.getMinutes() === 0
    ? at.toLocaleDateString(undefined, { month: 'short', day: 'numeric' })
    : clockText(at.getTime());
}
