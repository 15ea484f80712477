import type { Queue, QueueEdit } from '../../../../src/api/queue.ts';
import { client } from '../../data/client.ts';
import { useAction } from '../../data/use-action.ts';
import { May } from '../../parts/may.tsx';

interface QueueActionsProps {
  queue: Queue;
  onEdit: () => void;
  /** In a row of a list. */
  small?: boolean;
}

/** Pause or resume a queue, and change its limit. */
export function QueueActions({ queue, onEdit, small = false }: QueueActionsProps) {
  const pause = useAction({
    run: (edit: QueueEdit) => client.editQueue(queue.name, edit),
    done: (after) =>
      after.paused ? `Queue ${after.name} is paused: no job of it starts` : `Queue ${after.name} resumed`,
  });
  const size = small ? { className: 'small' } : {};
  return (
    <May scope="operate">
      <button type="button" {...size} disabled={pause.running} onClick={() => pause.run({ paused: !queue.paused })}>
        {queue.paused ? 'Resume' : 'Pause'}
        <span className="visually-hidden"> {queue.name}</span>
      </button>
      <button type="button" {...size} onClick={onEdit}>
        Limit…<span className="visually-hidden"> {queue.name}</span>
      </button>
    </May>
  );
}
