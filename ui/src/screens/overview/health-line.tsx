import type { Queue } from '../../../../src/api/queue.ts';
import type { Stats } from '../../../../src/api/stats.ts';
import type { Worker } from '../../../../src/api/worker.ts';
import { useNow } from '../../data/use-now.ts';
import { countText } from '../../words/count.ts';
import { shortSpan } from '../../words/duration.ts';

const LATE_MS = 5 * 60_000;

/** One sentence: is something wrong? */
export function HealthLine({
  queues,
  workers,
  day,
}: {
  queues: readonly Queue[];
  workers: readonly Worker[];
  day: Stats | undefined;
}) {
  const now = useNow();
  const worries: string[] = [];
  const online = workers.filter(({ state }) => state === 'online');
  const pending = queues.reduce((sum, queue) => sum + queue.pending, 0);
  if (online.length === 0)
    worries.push(pending > 0 ? `no worker is online, ${countText(pending, 'job')} waiting` : 'no worker is online');
  const paused = queues.filter((queue) => queue.paused && queue.pending > 0);
  if (paused.length > 0) worries.push(`${countText(paused.length, 'queue')} paused with work waiting`);
  const oldest = oldestPending(queues.filter((queue) => !queue.paused));
  if (oldest !== null && now - oldest.at > LATE_MS)
    worries.push(`queue ${oldest.queue} waits since ${shortSpan(now - oldest.at)}`);
  const failed = day?.totals.failed ?? 0;
  if (worries.length > 0) {
    return (
      <p className="health health-bad" role="status">
        <span aria-hidden="true">⚠</span> {capital(worries.join('; '))}.
      </p>
    );
  }
  return (
    <p className="health health-good" role="status">
      <span aria-hidden="true">●</span> All is well
      {failed > 0 ? `; ${countText(failed, 'job')} failed in 24 hours` : ''}.
    </p>
  );
}

export function oldestPending(queues: readonly Queue[]): { at: number; queue: string } | null {
  let oldest: { at: number; queue: string } | null = null;
  for (const { name, oldest_pending_at } of queues) {
    if (oldest_pending_at === null) continue;
    const at = Date.parse(oldest_pending_at);
    if (oldest === null || at < oldest.at) oldest = { at, queue: name };
  }
  return oldest;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
