import type { Queue } from '../../../../src/api/queue.ts';
import type { Stats } from '../../../../src/api/stats.ts';
import type { Worker } from '../../../../src/api/worker.ts';
import { useNow } from '../../data/use-now.ts';
import { countText, numberText } from '../../words/count.ts';
import { shortSpan } from '../../words/duration.ts';

const LATE_MS = 5 * 60_000;
/** The share of failures from which the line reports them. */
const MANY = 0.05;

/** One sentence about the health of the installation. */
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
  const ended = failed + (day?.totals.done ?? 0);
  const failures = `${numberText(failed)} of ${countText(ended, 'job')} failed in 24 hours`;
  if (failed > 0 && failed >= ended * MANY) worries.push(failures);
  if (worries.length > 0) return <Sentence tone="bad" icon="⚠" text={capital(worries.join('; '))} />;
  if (failed > 0) return <Sentence tone="fair" icon="●" text={`Work goes on; ${failures}`} />;
  return <Sentence tone="good" icon="●" text="All is well" />;
}

function Sentence({ tone, icon, text }: { tone: 'good' | 'fair' | 'bad'; icon: string; text: string }) {
  return (
    <p className={`health health-${tone}`} role="status">
      <span aria-hidden="true">{icon}</span> {text}.
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
