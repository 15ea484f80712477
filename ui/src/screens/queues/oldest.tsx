import type { Queue } from '../../../../src/api/queue.ts';
import { VERY_LATE_MS } from '../../../../src/api/words/worries.ts';
import { useNow } from '../../data/use-now.ts';
import { Elapsed } from '../../parts/when.tsx';

/** How long the oldest pending job of a queue has waited, marked when that is a worry. A paused queue waits for a person. */
export function Oldest({ queue: { oldest_pending_at: at, paused } }: { queue: Queue }) {
  const isLate = useNow() - Date.parse(at ?? '') >= VERY_LATE_MS && !paused;
  return (
    <span className={isLate ? 'state tone-amber' : ''}>
      <Elapsed from={at} to={null} />
    </span>
  );
}
