import { useState } from 'react';
import { Link } from 'wouter';
import type { Timeline } from '../../../../src/api/timeline.ts';
import { useNow } from '../../data/use-now.ts';
import { clockText, dateText, monthText, weekdayText } from '../../words/instant.ts';

const MAX_ENTRIES = 4;
/** What a calendar shows: this far back, this far ahead, and at most this many runs of a schedule in each direction. */
export const CALENDAR_RANGE = { from: '90d', ahead: '31d', each: 60 };

interface Entry {
  name: string;
  at: number;
  count: number;
  /** True if the day has more runs than are known. */
  more: boolean;
  failed: number;
  /** True if all of it is still to come. */
  future: boolean;
}

/** A month: what ran on each day, coloured by outcome, and what is due. */
export function ScheduleCalendar({ timeline }: { timeline: Timeline }) {
  const now = useNow();
  const [offset, setOffset] = useState(0);
  const first = new Date(now);
  first.setHours(0, 0, 0, 0);
  first.setDate(1);
  first.setMonth(first.getMonth() + offset);
  const days = daysOf(first);
  return (
    <section className="card calendar" aria-label={monthText(first.getTime())}>
      <header className="card-head">
        <h2>{monthText(first.getTime())}</h2>
        <span className="spacer" />
        <button type="button" className="small" aria-label="Previous month" onClick={() => setOffset(offset - 1)}>
          ←
        </button>
        <button type="button" className="small" onClick={() => setOffset(0)}>
          This month
        </button>
        <button type="button" className="small" aria-label="Next month" onClick={() => setOffset(offset + 1)}>
          →
        </button>
      </header>
      <ol className="calendar-grid">
        {days.map((day) => (
          <Day
            key={day}
            day={day}
            now={now}
            inMonth={new Date(day).getMonth() === first.getMonth()}
            timeline={timeline}
          />
        ))}
      </ol>
      <p className="faint small-text">
        Times are in your time zone. Runs of the last 90 days and the next 31 days; “…” and “+” stand for runs beyond
        the {CALENDAR_RANGE.each} before and after now.
      </p>
    </section>
  );
}

function Day({ day, now, inMonth, timeline }: { day: number; now: number; inMonth: boolean; timeline: Timeline }) {
  const end = new Date(day).setDate(new Date(day).getDate() + 1);
  const entries = entriesOf(timeline, day, end);
  const today = now >= day && now < end;
  return (
    <li className={`calendar-day${inMonth ? '' : ' calendar-other'}${today ? ' calendar-today' : ''}`}>
      <span className="calendar-date" title={dateText(day)}>
        {weekdayText(day)}
      </span>
      <ul>
        {entries.slice(0, MAX_ENTRIES).map((entry) => (
          <li key={entry.name}>
            <Link href={`/schedules/${entry.name}`} className={`calendar-entry ${classOf(entry)}`}>
              <span className="calendar-name">{entry.name}</span>
              <span className="calendar-time">{timesText(entry)}</span>
              {entry.failed > 0 && <span className="visually-hidden">, {entry.failed} failed</span>}
            </Link>
          </li>
        ))}
        {entries.length > MAX_ENTRIES && <li className="faint small-text">+{entries.length - MAX_ENTRIES} more</li>}
      </ul>
    </li>
  );
}

function timesText({ at, count, more }: Entry): string {
  if (more) return count === 0 ? '…' : `×${count}+`;
  return count > 1 ? `×${count}` : clockText(at);
}

function classOf({ failed, future }: Entry): string {
  if (failed > 0) return 'entry-bad';
  return future ? 'entry-future' : 'entry-good';
}

/** The days of six weeks at most, from the Monday before the first day of the month. */
function daysOf(first: Date): number[] {
  const start = new Date(first);
  start.setDate(1 - ((first.getDay() + 6) % 7));
  const next = new Date(first);
  next.setMonth(next.getMonth() + 1);
  const days: number[] = [];
  const last = next.getTime();
  for (let at = start.getTime(); at < last || days.length % 7 !== 0; at = start.setDate(start.getDate() + 1))
    days.push(at);
  return days;
}

function entriesOf({ schedules, now, ...range }: Timeline, from: number, to: number): Entry[] {
  const within = (at: number): boolean => at >= from && at < to;
  return schedules
    .flatMap(({ schedule: { name, created_at }, ticks, next }): Entry[] => {
      const past = ticks.filter((tick) => tick.verdict === 'ran' && within(Date.parse(tick.scheduled_for)));
      const coming = next.map((at) => Date.parse(at)).filter(within);
      const times = [...past.map((tick) => Date.parse(tick.scheduled_for)), ...coming];
      // Both lists begin at now: a full one may have more behind its last entry.
      const isFull = (list: readonly unknown[]) => list.length >= CALENDAR_RANGE.each;
      const oldest = isFull(ticks) ? Date.parse(ticks.at(-1)?.scheduled_for ?? now) : Number.NEGATIVE_INFINITY;
      const latest = isFull(next) ? Date.parse(next.at(-1) ?? now) : Number.POSITIVE_INFINITY;
      const begin = Math.max(Date.parse(range.from), Date.parse(created_at));
      const more = (from < oldest && to > begin) || (to > latest && from < Date.parse(range.until));
      if (times.length === 0 && !more) return [];
      const failed = past.filter(({ run }) => run?.status === 'failed').length;
      const future = past.length === 0 && to > Date.parse(now);
      return [{ name, at: Math.min(...times, to), count: times.length, more, failed, future }];
    })
    .sort((a, b) => b.failed - a.failed || a.at - b.at);
}
