import { Link } from 'wouter';
import type { WorkflowDetail } from '../../../../src/api/workflow/workflow.ts';
import { useNow } from '../../data/use-now.ts';
import { State } from '../../parts/state.tsx';
import { countText } from '../../words/count.ts';
import { durationText } from '../../words/duration.ts';
import { secondText } from '../../words/instant.ts';
import { STATE_TONES } from '../../words/state.ts';
import { valueTicks } from '../overview/axis.ts';
import { type Bar, barsOf, type ItemBar, type Usual } from './gantt-data.ts';
import { useItems, useRetries, useUsual } from './use-gantt.ts';

const LAYER_PX = 5;
const MAX_TICKS = 6;

/** A length as a share of the chart. */
type Share = (ms: number) => string;

/** When each step waited for a slot (hatched) and ran, with its attempts and items, before the medians of earlier runs. */
export function Gantt({ workflow }: { workflow: WorkflowDetail }) {
  const now = useNow();
  const bars = barsOf({ workflow, attempts: useRetries(workflow), items: useItems(workflow), now });
  const usual = useUsual(workflow);
  const from = Date.parse(workflow.created_at);
  const ends = [
    ...bars.flatMap(({ runs, items }) => [...runs, ...items].map(({ to }) => to - from)),
    ...[...(usual?.steps.values() ?? [])].map(({ afterMs, tookMs }) => afterMs + tookMs),
  ];
  const ticks = valueTicks(Math.max(1, ...ends), 'duration', MAX_TICKS);
  const length = Math.max(...ends, ticks.at(-2) ?? 1, 1);
  const share: Share = (ms) => `${(Math.max(0, ms) / length) * 100}%`;
  const critical = new Set(workflow.critical_path);
  return (
    <div className="gantt" style={{ '--tick': share(ticks[1] ?? length) } as React.CSSProperties}>
      <div className="gantt-axis" aria-hidden="true">
        {ticks
          .filter((tick) => tick < length * 0.94)
          .map((tick) => (
            <span key={tick} style={{ left: share(tick) }}>
              {tick === 0 ? secondText(from).slice(0, 8) : `+${durationText(tick)}`}
            </span>
          ))}
      </div>
      <ol>
        {bars.map((bar) => (
          <li key={bar.step.key} className={critical.has(bar.step.key) ? 'gantt-row gantt-critical' : 'gantt-row'}>
            <span className="gantt-name">
              <State of={bar.step.status} quiet />
              <Link href={`/jobs/${bar.step.job_id}`}>{bar.step.key}</Link>
            </span>
            <Track bar={bar} from={from} share={share} usual={usual?.steps.get(bar.step.key)} />
            <span className="gantt-words">{wordsOf(bar, usual?.steps.get(bar.step.key))}</span>
          </li>
        ))}
      </ol>
      <p className="faint small-text">
        {critical.size > 0 && `Critical path: ${workflow.critical_path.join(' → ')}. `}Hatched: ready, waiting for a
        slot.
        {usual !== undefined && usual.count > 0 && ` Outline: the median of ${countText(usual.count, 'earlier run')}.`}
      </p>
    </div>
  );
}

interface TrackProps {
  bar: Bar;
  from: number;
  share: Share;
  usual: Usual | undefined;
}

function Track({ bar: { free, runs, items, step }, from, share, usual }: TrackProps) {
  const start = runs[0]?.from ?? null;
  const place = (a: number, b: number) => ({ left: share(a - from), width: share(b - a) });
  const layers = Math.max(0, ...items.map(({ layer }) => layer + 1));
  return (
    <span className="gantt-track" style={layers === 0 ? undefined : { height: 22 + layers * LAYER_PX }}>
      {usual !== undefined && (
        <span
          className="gantt-usual"
          title={`Usually ${durationText(usual.tookMs)}, ${durationText(usual.afterMs)} after the start`}
          style={{ left: share(usual.afterMs), width: share(usual.tookMs) }}
        />
      )}
      {free !== null && start !== null && start > free && <span className="gantt-wait" style={place(free, start)} />}
      {runs.map((run, index) => {
        const before = runs[index - 1];
        return (
          <span key={run.from}>
            {before !== undefined && run.from > before.to && (
              <span className="gantt-backoff" style={place(before.to, run.from)} />
            )}
            <span
              className={`gantt-bar fill-${STATE_TONES[run.state] ?? 'grey'}`}
              data-state={run.state}
              title={runs.length === 1 ? step.status : `Attempt ${index + 1}: ${run.state}`}
              style={place(run.from, run.to)}
            />
          </span>
        );
      })}
      {items.map((item) => (
        <Item key={item.id} item={item} style={{ ...place(item.from, item.to), top: 20 + item.layer * LAYER_PX }} />
      ))}
    </span>
  );
}

/** Too small to be pressed: the screen of the step has the items as links. */
function Item({ item, style }: { item: ItemBar; style: React.CSSProperties }) {
  const text = `Item ${item.index ?? '?'}: ${item.state}, ${durationText(item.to - item.from)}`;
  return (
    <span
      className={`gantt-item fill-${STATE_TONES[item.state] ?? 'grey'}`}
      data-state={item.state}
      title={text}
      style={style}
    />
  );
}

function wordsOf({ free, runs }: Bar, usual: Usual | undefined): string {
  const [first, last] = [runs[0], runs.at(-1)];
  if (first === undefined || last === undefined) {
    return usual === undefined ? '' : `usually ${durationText(usual.tookMs)}`;
  }
  const waited = free !== null && first.from - free >= 1 ? `waited ${durationText(first.from - free)}, ` : '';
  const tries = runs.length > 1 ? `, ${runs.length} attempts` : '';
  return `${waited}ran ${durationText(last.to - last.from)}${tries}`;
}
