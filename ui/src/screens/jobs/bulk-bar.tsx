import { useState } from 'react';
import type { JobFilterInput } from '../../../../src/api/job-filter.ts';
import type { Operation } from '../../../../src/api/operation.ts';
import { client } from '../../data/client.ts';
import { useAction } from '../../data/use-action.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { countText, numberText } from '../../words/count.ts';
import { OperationProgress } from './operation-progress.tsx';

type ActionName = 'cancel' | 'retry';

export interface BulkBarProps {
  /** The selected jobs, or everything that matches the filter. */
  filter: JobFilterInput;
  /** The number of selected jobs; 0 means everything that matches. */
  chosen: number;
  /** The same action on the command line. */
  cli: (action: ActionName) => string | null;
  onClear: () => void;
}

const ASK_TO_TYPE = 100;

/** Cancels or retries many jobs: counts them, asks for confirmation, and shows the progress. */
export function BulkBar({ filter, chosen, cli, onClear }: BulkBarProps) {
  const [asked, setAsked] = useState<{ action: ActionName; total: number } | null>(null);
  const [operation, setOperation] = useState<Operation | null>(null);
  const count = useAction({
    run: async (action: ActionName) => ({
      action,
      total: (await client.bulk({ action, filter, dry_run: true })).total,
    }),
    done: () => null,
    after: setAsked,
  });
  const start = useAction({
    run: (action: ActionName) => client.bulk({ action, filter }),
    done: () => null,
    after: (answer) => {
      setOperation(answer.operation);
      onClear();
    },
  });
  const line = asked === null ? null : cli(asked.action);
  return (
    <>
      <div className="bulk-bar">
        <span className="faint">{chosen > 0 ? `${chosen} selected:` : 'All matching:'}</span>
        <button type="button" className="small" disabled={count.running} onClick={() => count.run('retry')}>
          Retry…
        </button>
        <button type="button" className="small" disabled={count.running} onClick={() => count.run('cancel')}>
          Cancel…
        </button>
        {chosen > 0 && (
          <button type="button" className="plain" onClick={onClear}>
            Clear
          </button>
        )}
      </div>
      {operation !== null && <OperationProgress started={operation} onClose={() => setOperation(null)} />}
      {asked !== null && (
        <Confirm
          title={`${asked.action === 'retry' ? 'Retry' : 'Cancel'} ${countText(asked.total, 'job')}?`}
          verb={asked.action === 'retry' ? 'Retry them' : 'Cancel them'}
          danger={asked.action === 'cancel'}
          {...(asked.total > ASK_TO_TYPE ? { typed: String(asked.total) } : {})}
          {...(line === null ? {} : { cli: line })}
          onConfirm={() => start.run(asked.action)}
          onClose={() => setAsked(null)}
        >
          <p>
            {numberText(asked.total)} {asked.total === 1 ? 'job matches' : 'jobs match'} now.{' '}
            {asked.action === 'retry'
              ? 'Failed, cancelled and skipped jobs are queued again with all their attempts; others are left alone.'
              : 'Waiting jobs are cancelled at once, running jobs are asked to stop; ended jobs are left alone.'}
          </p>
        </Confirm>
      )}
    </>
  );
}
