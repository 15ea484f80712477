import { useState } from 'react';
import type { JobFilterInput } from '../../../../src/api/job-filter.ts';
import type { Operation } from '../../../../src/api/operation.ts';
import { client } from '../../data/client.ts';
import { useAction } from '../../data/use-action.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { countText, numberText } from '../../words/count.ts';
import { OperationProgress } from './operation-progress.tsx';

export type BulkAction = 'retry' | 'cancel' | 'delete';

interface ActionWords {
  title: string;
  danger: boolean;
  /** What happens to which of the jobs. */
  effect: string;
}

const WORDS: Readonly<Record<BulkAction, ActionWords>> = {
  retry: {
    title: 'Retry',
    danger: false,
    effect: 'Failed, cancelled and skipped jobs are queued again with all their attempts; others are left alone.',
  },
  cancel: {
    title: 'Cancel',
    danger: true,
    effect: 'Waiting jobs are cancelled at once, running jobs are asked to stop; ended jobs are left alone.',
  },
  delete: {
    title: 'Delete',
    danger: true,
    effect:
      'Ended jobs are deleted with their attempts, output and results, and cannot be brought back. Steps of workflows, members of gangs and jobs that unfinished ones need are left alone.',
  },
};
const ACTIONS = Object.keys(WORDS) as BulkAction[];

export interface BulkBarProps {
  /** The selected jobs, or everything that matches the filter. */
  filter: JobFilterInput;
  /** The number of selected jobs; 0 means everything that matches. */
  chosen: number;
  /** The same action on the command line. */
  cli: (action: BulkAction) => string | null;
  onClear: () => void;
  /** Jobs are gone from the list. */
  onDeleted: () => void;
}

const ASK_TO_TYPE = 100;

/** Retries, cancels or deletes many jobs: counts them, asks for confirmation, and shows the progress. */
export function BulkBar({ filter, chosen, cli, onClear, onDeleted }: BulkBarProps) {
  const [asked, setAsked] = useState<{ action: BulkAction; total: number } | null>(null);
  const [operation, setOperation] = useState<Operation | null>(null);
  const count = useAction({
    run: async (action: BulkAction) => ({
      action,
      total: (await client.bulkJobs({ action, filter, dry_run: true })).total,
    }),
    done: () => null,
    after: setAsked,
  });
  const start = useAction({
    run: (action: BulkAction) => client.bulkJobs({ action, filter, ...(isEmpty(filter) && { all: true }) }),
    done: () => null,
    after: (answer) => {
      setOperation(answer.operation);
      onClear();
    },
  });
  return (
    <>
      <div className="bulk-bar">
        <span className="faint">{chosen > 0 ? `${chosen} selected:` : 'All matching:'}</span>
        {ACTIONS.map((action) => (
          <button
            key={action}
            type="button"
            className="small"
            disabled={count.running}
            onClick={() => count.run(action)}
          >
            {WORDS[action].title}…
          </button>
        ))}
        {chosen > 0 && (
          <button type="button" className="plain" onClick={onClear}>
            Clear
          </button>
        )}
      </div>
      {operation !== null && (
        <OperationProgress
          key={operation.id}
          started={operation}
          onDeleted={onDeleted}
          onClose={() => setOperation(null)}
        />
      )}
      {asked !== null && (
        <AskBulk
          {...asked}
          cli={cli(asked.action)}
          onConfirm={() => start.run(asked.action)}
          onClose={() => setAsked(null)}
        />
      )}
    </>
  );
}

interface AskBulkProps {
  action: BulkAction;
  total: number;
  cli: string | null;
  onConfirm: () => void;
  onClose: () => void;
}

function AskBulk({ action, total, cli, onConfirm, onClose }: AskBulkProps) {
  const { title, danger, effect } = WORDS[action];
  const verb = `${title} ${countText(total, 'job')}`;
  return (
    <Confirm
      title={`${verb}?`}
      verb={verb}
      danger={danger}
      {...(total > ASK_TO_TYPE ? { typed: String(total) } : {})}
      {...(cli === null ? {} : { cli })}
      onConfirm={onConfirm}
      onClose={onClose}
    >
      <p>
        {numberText(total)} {total === 1 ? 'job matches' : 'jobs match'} now. {effect}
      </p>
    </Confirm>
  );
}

/** Then every job is meant, whose number the user has confirmed. */
function isEmpty(filter: JobFilterInput): boolean {
  return Object.keys(filter).length === 0;
}
