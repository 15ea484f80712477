import { useState } from 'react';
import type { Schedule } from '../../../../src/api/schedule.ts';
import { client } from '../../data/client.ts';
import { useAction } from '../../data/use-action.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { May } from '../../parts/may.tsx';
import { workron } from '../../words/as-command.ts';
import { countText } from '../../words/count.ts';
import { BackfillDialog } from './backfill-dialog.tsx';
import { PauseDialog } from './pause-dialog.tsx';

export interface ScheduleActionsProps {
  schedule: Schedule;
  onEdit: () => void;
  onChanged: () => void;
  onDelete: () => void;
}

/** Run now, pause with a note, backfill, edit, delete. */
export function ScheduleActions({ schedule, onEdit, onChanged, onDelete }: ScheduleActionsProps) {
  const [opened, setOpened] = useState<'pause' | 'backfill' | 'delete' | null>(null);
  const { name, queues } = schedule;
  const run = useAction({
    run: () => client.runSchedule(name),
    done: ({ items }) => `Started ${countText(items.length, 'run')} of ${name}`,
    after: onChanged,
  });
  const resume = useAction({ run: () => client.resumeSchedule(name), done: () => `${name} resumed`, after: onChanged });
  const close = (): void => setOpened(null);
  return (
    <>
      <May scope="submit" queue={queues}>
        <button type="button" className="primary" disabled={run.running} onClick={() => run.run()}>
          Run now
        </button>
      </May>
      <May scope="operate">
        {schedule.paused_at === null ? (
          <button type="button" onClick={() => setOpened('pause')}>
            Pause…
          </button>
        ) : (
          <button type="button" disabled={resume.running} onClick={() => resume.run()}>
            Resume
          </button>
        )}
      </May>
      <May scope="submit" queue={queues}>
        <button type="button" onClick={() => setOpened('backfill')}>
          Backfill…
        </button>
        <button type="button" onClick={onEdit}>
          Edit…
        </button>
      </May>
      <May scope="operate">
        <button type="button" className="danger" onClick={() => setOpened('delete')}>
          Delete…
        </button>
      </May>
      {opened === 'pause' && <PauseDialog name={name} onClose={close} onDone={onChanged} />}
      {opened === 'backfill' && <BackfillDialog name={name} onClose={close} onDone={onChanged} />}
      {opened === 'delete' && (
        <Confirm
          title={`Delete ${name}?`}
          verb="Delete it"
          danger
          typed={name}
          cli={workron(`schedule rm ${name}`)}
          onConfirm={onDelete}
          onClose={close}
        >
          <p>It never runs again. Jobs that it has started continue.</p>
        </Confirm>
      )}
    </>
  );
}
