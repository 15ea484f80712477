import { useState } from 'react';
import { Link } from 'wouter';
import { client } from '../../data/client.ts';
import { useLive } from '../../data/use-live.ts';
import { useNow } from '../../data/use-now.ts';
import { countText } from '../../words/count.ts';
import { clockText, weekdayText } from '../../words/instant.ts';
import { visibleLine } from '../../words/visible-text.ts';
import { useNarrow } from '../jobs/use-narrow.ts';
import { timeTicks } from './axis.ts';
import { type Mark, type Row, rowsOf, type Span } from './day-rows.ts';
import { useDayTimeline, ZOOMS } from './use-day-timeline.ts';

const ROWS = 8;
/** The positions are computed again this often. */
const STEP_MS = 10_000;

/** Past, present and future in one picture: runs as bars coloured by outcome, a line for now, hollow ticks to come. */
export function DayTimeline() {
  const { zoom, setZoom, data } = useDayTimeline();
  const [all, setAll] = useState(false);
  const now = Math.floor(useNow() / STEP_MS) * STEP_MS;
  const workflows = useLive({
    key: ['workflows', 'recent'],
    about: { topics: ['jobs'], restMs: 3_000 },
    keep: true,
    fetch: (signal) => client.listWorkflows({ limit: 200 }, { signal }),
  });
  if (data === undefined) return <div className="card timeline-space" />;
  const span = { from: now - zoom.pastMs, to: now + zoom.aheadMs };
  const rows = rowsOf(data, workflows.data?.items ?? [], span, now);
  const shown = all ? rows : rows.slice(0, ROWS);
  const present = zoom.pastMs / (zoom.pastMs + zoom.aheadMs);
  return (
    <section className="card day" aria-labelledby="day">
      <header className="card-head chart-head">
        <h2 id="day">Schedules and workflows</h2>
        <span className="spacer" />
        <div className="views" role="group" aria-label="Span of the timeline">
          {ZOOMS.map(({ key, title }) => (
            <button
              key={key}
              type="button"
              className="view"
              aria-pressed={key === zoom.key}
              onClick={() => setZoom(key)}
            >
              {title}
            </button>
          ))}
        </div>
      </header>
      {rows.length === 0 ? (
        <p className="faint">
          Nothing ran and nothing is due in this span. <Link href="/schedules">Create a schedule</Link> to see it here.
        </p>
      ) : (
        <div className="day-rows">
          <Axis span={span} now={present} />
          <ol>
            {shown.map((row) => (
              <TimelineRow key={row.key} row={row} />
            ))}
          </ol>
          <div className="day-now-frame" aria-hidden="true">
            <span className="day-now" style={{ left: `${present * 100}%` }} />
          </div>
        </div>
      )}
      {rows.length > ROWS && (
        <button type="button" className="plain" onClick={() => setAll(!all)}>
          {all ? 'Show fewer' : `Show all ${rows.length}`}
        </button>
      )}
    </section>
  );
}

function TimelineRow({ row }: { row: Row }) {
  const { name, href, kind, failing, runs, failed, marks, next } = row;
  return (
    <li className={failing ? 'day-row day-row-bad' : 'day-row'}>
      <span className="day-row-name">
        <Link href={href}>
          <bdi>{visibleLine(name)}</bdi>
        </Link>
        <span className="visually-hidden">
          {kind}: {countText(runs, 'run')}, {failed} failed, {next.length} to come
        </span>
      </span>
      <span className="day-row-track">
        {marks.map((mark) => (
          <RunMark key={`${mark.left} ${mark.text}`} mark={mark} />
        ))}
        {next.map(({ left, text }) => (
          <span key={left} className="day-row-next" style={{ left: `${left * 100}%` }} title={text} />
        ))}
      </span>
    </li>
  );
}

function RunMark({ mark: { left, width, tone, hollow, href, text } }: { mark: Mark }) {
  const about = {
    className: `day-row-mark tone-${tone}${hollow ? ' day-row-hollow' : ''}`,
    style: { left: `${left * 100}%`, width: `${width * 100}%` },
    title: text,
  };
  if (href === null) return <span {...about} />;
  // The row's name is the stop for the keyboard; its screen lists the runs.
  return <Link {...about} href={href} tabIndex={-1} aria-label={text} />;
}

/** `now` is the place of the present, from 0 to 1. */
function Axis({ span, now }: { span: Span; now: number }) {
  const room = useNarrow() ? 0.16 : 0.05;
  const share = (at: number): number => (at - span.from) / (span.to - span.from);
  // A label needs room on both sides, and beside that of the present.
  const ticks = timeTicks(span.from, span.to, 8).filter(
    (at) => share(at) > 0.12 && share(at) < 0.88 && Math.abs(share(at) - now) > room,
  );
  return (
    <div className="day-axis" aria-hidden="true">
      {ticks.map((at) => {
        const midnight = new Date(at).getHours() === 0 && new Date(at).getMinutes() === 0;
        return (
          <span
            key={at}
            className={midnight ? 'day-tick day-midnight' : 'day-tick'}
            style={{ left: `${share(at) * 100}%` }}
          >
            {midnight ? weekdayText(at) : clockText(at)}
          </span>
        );
      })}
    </div>
  );
}
