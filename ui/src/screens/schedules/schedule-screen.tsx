import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import type { Schedule } from '../../../../src/api/schedule.ts';
import type { AllSchedules } from '../../data/all-schedules.ts';
import { client } from '../../data/client.ts';
import { useAction } from '../../data/use-action.ts';
import { useLive } from '../../data/use-live.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Empty, Loading, Problem } from '../../parts/notes.tsx';
import { PageHead, useTitle } from '../../parts/page-head.tsx';
import { When } from '../../parts/when.tsx';
import { isMissing } from '../../words/message-of.ts';
import { visibleLine } from '../../words/visible-text.ts';
import { Coverage } from './coverage.tsx';
import { Ledger } from './ledger.tsx';
import { Preview } from './preview.tsx';
import { ScheduleActions } from './schedule-actions.tsx';
import { ScheduleForm } from './schedule-form.tsx';
import { whatItRuns, whenText } from './schedule-words.ts';

/** One schedule: its timing, the verdict of every tick, and its actions. */
export function ScheduleScreen({ name }: { name: string }) {
  useTitle(name);
  const [editing, setEditing] = useState(false);
  const remove = useDelete(name);
  const schedule = useLive({
    key: ['schedule', name],
    // It is not fetched while it is being deleted.
    enabled: !remove.running,
    about: { topics: ['jobs'] },
    everyMs: 10_000,
    fetch: (signal) => client.schedule(name, { signal }),
  });
  const { data } = schedule;
  const again = (): void => void schedule.refetch();
  if (isMissing(schedule.error)) {
    return (
      <Empty alone title={`There is no schedule ${name}`}>
        <Link href="/schedules">All schedules</Link>
      </Empty>
    );
  }
  if (data === undefined)
    return schedule.error === null ? <Loading /> : <Problem error={schedule.error} onRetry={again} />;
  return (
    <section className="screen">
      <PageHead title={data.name} sub={<span className="muted">{whenText(data)}</span>}>
        <ScheduleActions
          schedule={data}
          onEdit={() => setEditing(true)}
          onChanged={again}
          onDelete={() => remove.run()}
        />
      </PageHead>
      {data.paused_at !== null && <PauseNote schedule={data} />}
      <ScheduleFacts schedule={data} />
      {!remove.running && <Coverage schedule={data} cells={100} />}
      <div className="details-grid">
        <NextTicks schedule={data} />
        {!remove.running && <Ledger name={data.name} />}
      </div>
      {editing && (
        <Dialog title={`Edit ${data.name}`} onClose={() => setEditing(false)} wide>
          <ScheduleForm
            existing={data}
            onDone={() => {
              setEditing(false);
              again();
            }}
          />
        </Dialog>
      )}
    </section>
  );
}

/** Deletes the schedule, removes it from the list that is already loaded, and goes to that list. */
function useDelete(name: string) {
  const [, go] = useLocation();
  const queries = useQueryClient();
  return useAction({
    run: () => client.deleteSchedule(name),
    done: () => `${name} is deleted`,
    after: () => {
      queries.setQueryData<AllSchedules>(
        ['schedules'],
        (all) => all && { ...all, items: all.items.filter((each) => each.name !== name) },
      );
      go('/schedules');
    },
  });
}

function NextTicks({ schedule }: { schedule: Schedule }) {
  return (
    <section className="card">
      <h2>Next fires</h2>
      <Preview
        kind={schedule.cron === null ? 'every' : 'cron'}
        text={schedule.cron ?? `${schedule.every}ms`}
        timezone={schedule.timezone}
      />
    </section>
  );
}

function PauseNote({ schedule }: { schedule: Schedule }) {
  return (
    <p className="note">
      Paused <When at={schedule.paused_at} />
      {schedule.paused_note !== null && <>: {visibleLine(schedule.paused_note)}</>}
    </p>
  );
}

function ScheduleFacts({ schedule }: { schedule: Schedule }) {
  return (
    <dl className="facts">
      {(
        [
          ['Next', <When key="next" at={schedule.next_run} />],
          ['Last run', <When key="last" at={schedule.last_run} />],
          ['Runs', whatItRuns(schedule)],
          ['Time zone', schedule.timezone],
          ['Overlap', schedule.overlap.replace('_', ' ')],
          ['Catch-up', schedule.catchup.policy],
          ['For each of', schedule.for_each === null ? null : visibleLine(schedule.for_each.join(', '))],
        ] as const
      )
        .filter(([, value]) => value !== null)
        .map(([title, value]) => (
          <div key={title}>
            <dt>{title}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}
