import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import type { Schedule, ScheduleDetail } from '../../../../src/api/schedule.ts';
import type { AllSchedules } from '../../data/all-schedules.ts';
import { client } from '../../data/client.ts';
import { useAction } from '../../data/use-action.ts';
import { useLive } from '../../data/use-live.ts';
import { CopyButton } from '../../parts/copy.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Empty, Loading, Problem } from '../../parts/notes.tsx';
import { PageHead, useTitle } from '../../parts/page-head.tsx';
import { paramText } from '../../parts/param-fields.tsx';
import { When } from '../../parts/when.tsx';
import { countText } from '../../words/count.ts';
import { exactDuration } from '../../words/duration.ts';
import { isMissing } from '../../words/message-of.ts';
import { visibleLine, visibleText } from '../../words/visible-text.ts';
import { Coverage } from './coverage.tsx';
import { Ledger } from './ledger.tsx';
import { Preview } from './preview.tsx';
import { ScheduleActions } from './schedule-actions.tsx';
import { ScheduleForm } from './schedule-form.tsx';
import { whenText } from './schedule-words.ts';
import { isFailing, SuccessRate } from './success-rate.tsx';

const TICKS = 100;
const LEDGER_ROWS = 50;

/** One schedule: its timing, how its runs went, and its actions. */
export function ScheduleScreen({ name }: { name: string }) {
  useTitle(name);
  const [editing, setEditing] = useState(false);
  const remove = useDelete(name);
  const { schedule, ticks } = useSchedule(name, !remove.running);
  const { data } = schedule;
  const again = (): void => {
    void schedule.refetch();
    void ticks.refetch();
  };
  if (isMissing(schedule.error)) {
    return (
      <Empty alone title={`There is no schedule ${name}`}>
        <Link href="/schedules">All schedules</Link>
      </Empty>
    );
  }
  if (data === undefined)
    return schedule.error === null ? <Loading /> : <Problem error={schedule.error} onRetry={again} />;
  const entries = ticks.data?.items ?? [];
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
      <CommandLine schedule={data} />
      {data.paused_at !== null && <PauseNote schedule={data} />}
      {isFailing(data) && <FailingNote schedule={data} />}
      <ScheduleFacts schedule={data} />
      <Coverage name={data.name} ticks={entries} cells={TICKS} />
      <div className="details-grid">
        <NextTicks schedule={data} />
        <Ledger ticks={entries.slice(0, LEDGER_ROWS)} />
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

/** The schedule and its newest ticks. It is not fetched while it is being deleted. */
function useSchedule(name: string, enabled: boolean) {
  const schedule = useLive({
    key: ['schedule', name],
    enabled,
    about: { topics: ['jobs'] },
    everyMs: 10_000,
    fetch: (signal) => client.readSchedule(name, { signal }),
  });
  const ticks = useLive({
    key: ['ticks', name],
    enabled,
    about: { topics: ['jobs'], restMs: 2_000 },
    fetch: (signal) => client.listTicks(name, { limit: TICKS }, { signal }),
  });
  return { schedule, ticks };
}

function FailingNote({ schedule }: { schedule: ScheduleDetail }) {
  const { last_job_id, last_workflow_id } = schedule;
  return (
    <p className="note note-bad" role="status">
      <SuccessRate schedule={schedule} />
      {last_job_id !== null && <Link href={`/jobs/${last_job_id}`}>Open the last run</Link>}
      {last_workflow_id !== null && <Link href={`/workflows/${last_workflow_id}`}>Open the last run</Link>}
    </p>
  );
}

function CommandLine({ schedule: { job, workflow, definition } }: { schedule: Schedule }) {
  const text = workflow === null ? (job?.command ?? job?.handler ?? '') : `workflow ${workflow.name}`;
  return (
    <div className="command-box">
      {definition === null ? <pre>{visibleText(text)}</pre> : <StoredWorkflow definition={definition} />}
      <CopyButton text={text} label="Copy" />
    </div>
  );
}

function StoredWorkflow({ definition }: { definition: NonNullable<Schedule['definition']> }) {
  const { name, version, latest, params } = definition;
  const values = Object.entries(params).map(([param, value]) => `${param}=${paramText(value)}`);
  return (
    <pre>
      workflow <Link href={`/definitions/${name}`}>{name}</Link>,{' '}
      {latest ? `latest version (${version})` : `version ${version}`}
      {values.length > 0 && <span className="muted">{`\n${visibleText(values.join(' '))}`}</span>}
    </pre>
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
  const paused = schedule.paused_at !== null;
  return (
    <section className="card">
      <h2>{paused ? 'Next runs, once it is resumed' : 'Next runs'}</h2>
      {!paused && schedule.next_run === null ? (
        <p className="faint">None: it has ended.</p>
      ) : (
        <Preview
          kind={schedule.cron === null ? 'every' : 'cron'}
          text={schedule.cron ?? exactDuration(schedule.every ?? 0)}
          timezone={schedule.timezone}
          until={schedule.end_at}
        />
      )}
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

/** A few keys in a line, many behind their number. */
function Keys({ keys }: { keys: readonly string[] }) {
  if (keys.length <= 4) return visibleLine(keys.join(', '));
  return (
    <details>
      <summary>{countText(keys.length, 'key')}</summary>
      {visibleLine(keys.join(', '))}
    </details>
  );
}

function ScheduleFacts({ schedule }: { schedule: ScheduleDetail }) {
  return (
    <dl className="facts">
      {(
        [
          ['Next', <When key="next" at={schedule.next_run} />],
          ['Last run', <When key="last" at={schedule.last_run} />],
          ['Outcomes', isFailing(schedule) ? null : <SuccessRate key="rate" schedule={schedule} />],
          ['Queue', schedule.job === null ? null : visibleLine(schedule.job.queue)],
          ['Time zone', schedule.timezone],
          ['Overlap', schedule.overlap.replace('_', ' ')],
          ['Catch-up', schedule.catchup.policy],
          ['Keys', schedule.for_each === null ? null : <Keys key="keys" keys={schedule.for_each} />],
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
