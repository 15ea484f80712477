import { useState } from 'react';
import { Link } from 'wouter';
import type { ScheduleDetail } from '../../../../src/api/schedule.ts';
import type { LedgerEntry } from '../../../../src/api/tick.ts';
import type { Timeline } from '../../../../src/api/timeline.ts';
import { client } from '../../data/client.ts';
import { useAction } from '../../data/use-action.ts';
import { ACTIONS, Listing } from '../../parts/listing.tsx';
import { May } from '../../parts/may.tsx';
import { State } from '../../parts/state.tsx';
import { When } from '../../parts/when.tsx';
import { countText } from '../../words/count.ts';
import { dayText } from '../../words/instant.ts';
import { Coverage } from './coverage.tsx';
import { PauseDialog } from './pause-dialog.tsx';
import { whatItRuns, whenText } from './schedule-words.ts';
import { isFailing, SuccessRate } from './success-rate.tsx';

interface ScheduleTableProps {
  items: readonly ScheduleDetail[];
  timeline: Timeline | undefined;
  onChanged: () => void;
}

const CELLS = 20;

export function ScheduleTable({ items, timeline, onChanged }: ScheduleTableProps) {
  const ticks = new Map((timeline?.schedules ?? []).map((each) => [each.schedule.name, each.ticks]));
  return (
    <Listing
      title="Schedules"
      columns={['Schedule', 'When', 'Next', 'Recent runs', ACTIONS]}
      className="schedule-table"
    >
      {items.map((schedule) => (
        <Row key={schedule.name} schedule={schedule} ticks={ticks.get(schedule.name)} onChanged={onChanged} />
      ))}
    </Listing>
  );
}

interface RowProps {
  schedule: ScheduleDetail;
  ticks: readonly LedgerEntry[] | undefined;
  onChanged: () => void;
}

function Row({ schedule, ticks, onChanged }: RowProps) {
  const { name, paused_at, next_run, last_status } = schedule;
  return (
    <tr className={isFailing(schedule) ? 'row-bad' : undefined}>
      <th scope="row">
        <Link href={`/schedules/${name}`} className="schedule-name">
          {name}
        </Link>
        {paused_at !== null && <span className="badge tone-amber">❚❚ paused</span>}
        <div className="command-line" title={whatItRuns(schedule)}>
          {whatItRuns(schedule)}
        </div>
      </th>
      <td data-label="When">
        {whenText(schedule)}
        <div className="faint small-text">
          {schedule.timezone}
          {schedule.for_each !== null && ` · ${countText(schedule.for_each.length, 'key')}`}
        </div>
      </td>
      <td data-label="Next">
        {next_run === null ? (
          <span className="faint">{paused_at === null ? 'never' : 'paused'}</span>
        ) : (
          <>
            {dayText(Date.parse(next_run))}
            <div className="faint small-text">
              <When at={next_run} />
            </div>
          </>
        )}
      </td>
      <td data-label="Recent runs">
        <div className="rate-line">
          {last_status !== null && last_status !== 'done' && last_status !== 'failed' && <State of={last_status} />}
          <SuccessRate schedule={schedule} />
        </div>
        {ticks !== undefined && <Coverage name={name} ticks={ticks} cells={CELLS} />}
      </td>
      <RowActions schedule={schedule} onChanged={onChanged} />
    </tr>
  );
}

function RowActions({ schedule: { name, paused_at, queues }, onChanged }: Omit<RowProps, 'ticks'>) {
  const [pausing, setPausing] = useState(false);
  const run = useAction({
    run: () => client.runSchedule(name),
    done: ({ items }) => `Started ${countText(items.length, 'run')} of ${name}`,
    after: onChanged,
  });
  const resume = useAction({ run: () => client.resumeSchedule(name), done: () => `${name} resumed`, after: onChanged });
  return (
    <td className="row-actions">
      <May scope="submit" queue={queues}>
        <button type="button" className="small" disabled={run.running} onClick={() => run.run()}>
          Run<span className="visually-hidden"> {name}</span>
        </button>
      </May>
      <May scope="operate">
        {paused_at === null ? (
          <button type="button" className="small" onClick={() => setPausing(true)}>
            Pause<span className="visually-hidden"> {name}</span>
          </button>
        ) : (
          <button type="button" className="small" disabled={resume.running} onClick={() => resume.run()}>
            Resume<span className="visually-hidden"> {name}</span>
          </button>
        )}
      </May>
      {pausing && <PauseDialog name={name} onClose={() => setPausing(false)} onDone={onChanged} />}
    </td>
  );
}
