import { useState } from 'react';
import { Link } from 'wouter';
import type { Schedule } from '../../../../src/api/schedule.ts';
import { type AllSchedules, allSchedules } from '../../data/all-schedules.ts';
import { useLive } from '../../data/use-live.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Empty, Loading, Problem } from '../../parts/notes.tsx';
import { PageHead, useTitle } from '../../parts/page-head.tsx';
import { When } from '../../parts/when.tsx';
import { Coverage } from './coverage.tsx';
import { ScheduleForm } from './schedule-form.tsx';
import { whatItRuns, whenText } from './schedule-words.ts';
import { VERDICTS } from './verdict.ts';

/** All schedules: the next tick, the last verdict, and whether every tick was covered. */
export function Schedules() {
  useTitle('Schedules');
  const [making, setMaking] = useState(false);
  const list = useLive({
    key: ['schedules'],
    about: { topics: ['jobs'] },
    everyMs: 10_000,
    fetch: allSchedules,
  });
  return (
    <section className="screen">
      <PageHead title="Schedules">
        <button type="button" className="primary" onClick={() => setMaking(true)}>
          New schedule
        </button>
      </PageHead>
      {list.error !== null && <Problem error={list.error} onRetry={() => void list.refetch()} />}
      {list.data === undefined ? (
        list.error === null && <Loading />
      ) : list.data.items.length === 0 ? (
        <Empty title="No schedules yet">
          <p>A schedule runs a command or a workflow by the clock, and keeps a record of every tick.</p>
          <button type="button" className="primary" onClick={() => setMaking(true)}>
            Make the first
          </button>
        </Empty>
      ) : (
        <ScheduleTable list={list.data} />
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

function ScheduleTable({ list }: { list: AllSchedules }) {
  return (
    <div className="table-frame">
      <table className="table">
        <thead>
          <tr>
            <th scope="col">Schedule</th>
            <th scope="col">When</th>
            <th scope="col">Next</th>
            <th scope="col">Last</th>
            <th scope="col">Coverage</th>
          </tr>
        </thead>
        <tbody>
          {list.items.map((schedule) => (
            <Row key={schedule.name} schedule={schedule} />
          ))}
        </tbody>
      </table>
      {list.more && <p className="faint">The first {list.items.length} of more; the command line lists all.</p>}
    </div>
  );
}

function Row({ schedule }: { schedule: Schedule }) {
  const last = schedule.last_verdict === null ? null : VERDICTS[schedule.last_verdict];
  return (
    <tr>
      <th scope="row">
        <Link href={`/schedules/${schedule.name}`} className="schedule-name">
          {schedule.name}
        </Link>
        {schedule.paused_at !== null && <span className="badge tone-amber">❚❚ paused</span>}
        <div className="faint small-text clip">{whatItRuns(schedule)}</div>
      </th>
      <td data-label="When">
        {whenText(schedule)}
        <div className="faint small-text">{schedule.timezone}</div>
      </td>
      <td data-label="Next">
        {schedule.paused_at === null ? <When at={schedule.next_run} /> : <span className="faint">paused</span>}
      </td>
      <td data-label="Last">
        {last !== null && (
          <span className={`state tone-${last.tone}`} title={last.words}>
            <span aria-hidden="true">{last.icon}</span> {schedule.last_verdict?.replace('_', ' ')}
          </span>
        )}{' '}
        <When at={schedule.last_run} />
      </td>
      <td data-label="Coverage">
        <Coverage schedule={schedule} cells={15} />
      </td>
    </tr>
  );
}
