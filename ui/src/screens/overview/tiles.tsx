import { Link } from 'wouter';
import type { LiveCounts } from '../../../../src/api/event.ts';
import type { Queue } from '../../../../src/api/queue.ts';
import type { Stats } from '../../../../src/api/stats.ts';
import type { Worker } from '../../../../src/api/worker.ts';
import { useLiveCounts } from '../../data/live-context.tsx';
import { useNow } from '../../data/use-now.ts';
import { compactText, countText } from '../../words/count.ts';
import { durationText } from '../../words/duration.ts';
import { STATE_ICONS, STATE_TONES } from '../../words/state.ts';
import { visibleLine } from '../../words/visible-text.ts';

function oldestPending(queues: readonly Queue[]): { at: number; queue: string } | null {
  let oldest: { at: number; queue: string } | null = null;
  for (const { name, oldest_pending_at } of queues) {
    if (oldest_pending_at === null) continue;
    const at = Date.parse(oldest_pending_at);
    if (oldest === null || at < oldest.at) oldest = { at, queue: name };
  }
  return oldest;
}

interface Tile {
  state: string;
  count: number;
  sub: string;
  href: string;
}

/** Counts by state: unfinished jobs now, and ended jobs of the last day. */
export function Tiles({
  queues,
  workers,
  day,
}: {
  queues: readonly Queue[];
  workers: readonly Worker[];
  day: Stats | undefined;
}) {
  const now = useNow();
  const counts = useLiveCounts();
  const sum = (field: keyof LiveCounts): number =>
    counts?.[field] ?? queues.reduce((total, queue) => total + queue[field], 0);
  const slots = workers.filter(({ state }) => state === 'online').reduce((total, worker) => total + worker.slots, 0);
  const oldest = oldestPending(queues);
  const oldestText =
    oldest === null
      ? 'nothing is waiting'
      : `oldest ${durationText(Math.floor((now - oldest.at) / 1_000) * 1_000)} in ${visibleLine(oldest.queue)}`;
  const totals = day?.totals;
  const ended = (totals?.done ?? 0) + (totals?.failed ?? 0);
  const rate =
    ended === 0 ? 'none ended yet' : `${Math.round(((totals?.failed ?? 0) / ended) * 100)}% of finished jobs`;
  const tiles: Tile[] = [
    { state: 'running', count: sum('running'), sub: `of ${countText(slots, 'slot')}`, href: '/jobs?status=running' },
    { state: 'pending', count: sum('pending'), sub: oldestText, href: '/jobs?status=pending' },
    { state: 'scheduled', count: sum('scheduled'), sub: 'due later', href: '/jobs?status=scheduled' },
    { state: 'blocked', count: sum('blocked'), sub: 'waiting for other jobs', href: '/jobs?status=blocked' },
    { state: 'done', count: totals?.done ?? 0, sub: 'in 24 hours', href: '/jobs?status=done&from=24h' },
    { state: 'failed', count: totals?.failed ?? 0, sub: rate, href: '/jobs?status=failed&from=24h' },
  ];
  return (
    <ul className="tiles">
      {tiles.map(({ state, count, sub, href }) => (
        <li key={state}>
          <Link href={href} className={`tile tone-${STATE_TONES[state]}`}>
            <span className="tile-state">
              <span aria-hidden="true">{STATE_ICONS[state]}</span> {state}
            </span>
            <span className="tile-count">{compactText(count)}</span>
            <span className="tile-sub">{sub}</span>
          </Link>
        </li>
      ))}
    </ul>
  );
}
