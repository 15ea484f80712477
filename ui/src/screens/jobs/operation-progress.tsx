import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import type { Operation } from '../../../../src/api/operation.ts';
import { client } from '../../data/client.ts';
import { numberText } from '../../words/count.ts';

interface OperationProgressProps {
  started: Operation;
  /** Jobs were deleted: no event tells of that. */
  onDeleted: () => void;
  onClose: () => void;
}

/** The progress of a bulk operation until its end. */
export function OperationProgress({ started, onDeleted, onClose }: OperationProgressProps) {
  const { data = started } = useQuery({
    queryKey: ['operation', started.id],
    queryFn: ({ signal }) => client.readOperation(started.id, { signal }),
    refetchInterval: ({ state }) => (state.data === undefined || state.data.status === 'running' ? 500 : false),
  });
  const hasDeleted = data.action === 'delete' && data.status !== 'running';
  useEffect(() => {
    if (hasDeleted) onDeleted();
    // `onDeleted` is another function at each rendering.
  }, [hasDeleted]);
  const seen = data.changed + data.skipped;
  const verb = { retry: 'retried', cancel: 'cancelled', delete: 'deleted' }[data.action];
  return (
    <div className="operation" role="status">
      <progress
        value={data.status === 'running' ? seen : 1}
        max={data.status === 'running' ? Math.max(1, data.total) : 1}
        aria-label="Progress"
      />
      <span>
        {data.status === 'running' ? `${numberText(seen)} of ${numberText(data.total)}…` : 'Finished:'}{' '}
        {numberText(data.changed)} {verb}
        {data.skipped > 0 && `, ${numberText(data.skipped)} left alone`}
      </span>
      {data.status !== 'running' && (
        <button type="button" className="plain" onClick={onClose} aria-label="Close">
          ×
        </button>
      )}
    </div>
  );
}
