import { useState } from 'react';
import { useSearchParams } from 'wouter';
import type { ScheduleDetail } from '../../../../src/api/schedule.ts';
import type { Timeline } from '../../../../src/api/timeline.ts';
import { type AllSchedules, allSchedules } from '../../data/all-schedules.ts';
import { useLive } from '../../data/use-live.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { May } from '../../parts/may.tsx';
import { Empty, Loading, Problem } from '../../parts/notes.tsx';
import { PageHead, useTitle } from '../../parts/page-head.tsx';
import { CALENDAR_RANGE, ScheduleCalendar } from './calendar.tsx';
import { ScheduleForm } from './schedule-form.tsx';
import { ScheduleTable } from './schedule-table.tsx';
import { whatItRuns } from './schedule-words.ts';
import { isFailing } from './success-rate.tsx';
import { useTimeline } from './use-timeline.ts';

const FILTERS = [
  ['all', 'All', () => true],
  ['failing', 'Failing', isFailing],
  ['paused', 'Paused', ({ paused_at }: ScheduleDetail) => paused_at !== null],
] as const;

/** All schedules: how their runs went, and when they are due next. */
export function Schedules() {
  useTitle('Schedules');
  const [making, setMaking] = useState(false);
  const [search, setSearch] = useSearchParams();
  const list = useLive({
    key: ['schedules'],
    about: { topics: ['jobs'], restMs: 2_000 },
    everyMs: 10_000,
    fetch: allSchedules,
  });
  const change = (next: Record<string, string>): void =>
    setSearch((before) => clean({ ...Object.fromEntries(before), ...next }), { replace: true });
  return (
    <section className="screen">
      <PageHead title="Schedules">
        <May scope="submit">
          <button type="button" className="primary" onClick={() => setMaking(true)}>
            New schedule
          </button>
        </May>
      </PageHead>
      {list.error !== null && <Problem error={list.error} onRetry={() => void list.refetch()} />}
      {list.data === undefined ? (
        list.error === null && <Loading />
      ) : list.data.items.length === 0 ? (
        <Empty title="No schedules yet">
          <p>A schedule runs a command or a workflow at set times and records every run.</p>
          <May scope="submit">
            <button type="button" className="primary" onClick={() => setMaking(true)}>
              Create a schedule
            </button>
          </May>
        </Empty>
      ) : (
        <ScheduleViews all={list.data} search={search} onChange={change} onChanged={() => void list.refetch()} />
      )}
      {making && (
        <Dialog title="New schedule" onClose={() => setMaking(false)} wide>
          <ScheduleForm
            onDone={() => {
              setMaking(false);
              void list.refetch();
            }}
          />
        </Dialog>
      )}
    </section>
  );
}

interface ScheduleViewsProps {
  all: AllSchedules;
  search: URLSearchParams;
  onChange: (change: Record<string, string>) => void;
  onChanged: () => void;
}

/** The schedules that match, as a list or a month. */
function ScheduleViews({ all, search, onChange, onChanged }: ScheduleViewsProps) {
  const timeline = useTimeline(CALENDAR_RANGE);
  const wanted = search.get('q') ?? '';
  const filter = FILTERS.find(([key]) => key === search.get('filter')) ?? FILTERS[0];
  const month = search.get('view') === 'month';
  const items = all.items
    .filter((schedule) => filter[2](schedule) && matches(schedule, wanted))
    .sort((a, b) => Number(isFailing(b)) - Number(isFailing(a)) || (a.name < b.name ? -1 : 1));
  const counts = FILTERS.map(([key, , passes]) => [key, all.items.filter(passes).length] as const);
  return (
    <>
      <ScheduleTools wanted={wanted} filter={filter[0]} month={month} counts={counts} onChange={onChange} />
      {items.length === 0 ? (
        <Empty title="No schedule matches">
          <button type="button" onClick={() => onChange({ q: '', filter: '' })}>
            Show all
          </button>
        </Empty>
      ) : month ? (
        <MonthView timeline={timeline.data} items={items} />
      ) : (
        <ScheduleTable items={items} timeline={timeline.data} onChanged={onChanged} />
      )}
      {all.more && <p className="faint">The first {all.items.length} schedules are shown.</p>}
    </>
  );
}

/** The month of the schedules that match. */
function MonthView({ timeline, items }: { timeline: Timeline | undefined; items: readonly ScheduleDetail[] }) {
  if (timeline === undefined) return <Loading />;
  const schedules = timeline.schedules.filter(({ schedule }) => named(items, schedule.name));
  return <ScheduleCalendar timeline={{ ...timeline, schedules }} />;
}

interface ScheduleToolsProps {
  wanted: string;
  filter: string;
  month: boolean;
  counts: readonly (readonly [string, number])[];
  onChange: (change: Record<string, string>) => void;
}

function ScheduleTools({ wanted, filter, month, counts, onChange }: ScheduleToolsProps) {
  return (
    <div className="filter-line">
      <label className="field">
        <span className="visually-hidden">Search schedules</span>
        <input
          type="search"
          data-search=""
          placeholder="Search by name or command"
          value={wanted}
          onChange={(event) => onChange({ q: event.target.value })}
        />
      </label>
      <div className="views" role="group" aria-label="Filter">
        {FILTERS.map(([key, title]) => (
          <button
            key={key}
            type="button"
            className="view"
            aria-pressed={key === filter}
            onClick={() => onChange({ filter: key === 'all' ? '' : key })}
          >
            {title} <span className="view-count">{counts.find(([name]) => name === key)?.[1]}</span>
          </button>
        ))}
      </div>
      <span className="spacer" />
      <div className="views" role="group" aria-label="View">
        <button type="button" className="view" aria-pressed={!month} onClick={() => onChange({ view: '' })}>
          List
        </button>
        <button type="button" className="view" aria-pressed={month} onClick={() => onChange({ view: 'month' })}>
          Month
        </button>
      </div>
    </div>
  );
}

function matches(schedule: ScheduleDetail, wanted: string): boolean {
  const text = `${schedule.name} ${whatItRuns(schedule)}`.toLowerCase();
  return text.includes(wanted.trim().toLowerCase());
}

function named(items: readonly ScheduleDetail[], name: string): boolean {
  return items.some((item) => item.name === name);
}

function clean(values: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ''));
}
