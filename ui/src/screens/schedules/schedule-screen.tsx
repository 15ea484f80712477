import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
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

/** One schedule: when it is due, what became of every tick, and what can be done about it. */
export function ScheduleScreen({ name }: { name: string }) {
  useTitle(name);
  const [editing, setEditing] = useState(false);
  const [, go] = useLocation();
  const queries = useQueryClient();
  const remove = useAction({
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
  const schedule = useLive({
    key: ['schedule', name],
    // Nothing asks for it while it is being deleted.
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
      {data.paused_at !== null && (
        <p className="note">
          Paused <When at={data.paused_at} />
          {data.paused_note !== null && <>: {visibleLine(data.paused_note)}</>}
        </p>
      )}
      <dl className="facts">
        {(
          [
            ['Next', <When key="next" at={data.next_run} />],
            ['Last run', <When key="last" at={data.last_run} />],
            ['Runs', whatItRuns(data)],
            ['Time zone', data.timezone],
            ['Overlap', data.overlap.replace('_', ' ')],
            ['Catch-up', data.catchup.policy],
            ['For each of', data.for_each === null ? null : visibleLine(data.for_each.join(', '))],
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
      {!remove.running && <Coverage schedule={data} cells={100} />}
      <div className="details-grid">
        <section className="card">
          <h2>Next fires</h2>
          <Preview
            kind={data.cron === null ? 'every' : 'cron'}
            text={data.cron ?? `${data.every}ms`}
            timezone={data.timezone}
          />
        </section>
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
