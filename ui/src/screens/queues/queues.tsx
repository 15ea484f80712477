import { useState } from 'react';
import { Link } from 'wouter';
import type { Queue } from '../../../../src/api/queue.ts';
import { withUsed } from '../../../../src/api/used-queues.ts';
import { client } from '../../data/client.ts';
import { useLive } from '../../data/use-live.ts';
import { CopyLine } from '../../parts/copy.tsx';
import { ACTIONS, Listing } from '../../parts/listing.tsx';
import { Meter } from '../../parts/meter.tsx';
import { Empty, Loading, Problem } from '../../parts/notes.tsx';
import { PageHead, useTitle } from '../../parts/page-head.tsx';
import { When } from '../../parts/when.tsx';
import { workron } from '../../words/as-command.ts';
import { compactText } from '../../words/count.ts';
import { shortSpan } from '../../words/duration.ts';
import { queuePath } from '../../words/queue-path.ts';
import { rateText as startRateText } from '../../words/rate.ts';
import { visibleLine } from '../../words/visible-text.ts';
import { shortSpanOrMs } from '../overview/queue-list.tsx';
import { Sparkline } from '../overview/sparkline.tsx';
import { Keys } from './keys.tsx';
import { LimitDialog } from './limit-dialog.tsx';
import { Oldest } from './oldest.tsx';
import { QueueActions } from './queue-actions.tsx';
import { etaMs, type QueueRate, rateText, useQueueRates } from './queue-rates.ts';

const COLUMNS = [
  'Queue',
  'Running',
  { title: 'Pending', num: true },
  'Oldest',
  'Last hour',
  { title: 'Rate', num: true },
  { title: 'p95 wait', num: true },
  { title: 'Failed/h', num: true },
  { title: 'Empty in', num: true },
  { title: 'Later', num: true },
  ACTIONS,
] as const;

/** Every queue with its counts, its pause and its limit; and the limits of keys. */
export function Queues() {
  useTitle('Queues');
  const queues = useLive({
    key: ['queues'],
    about: { topics: ['queues'] },
    fetch: (signal) => Array.fromAsync(client.listQueues({ signal })),
  });
  const rates = useQueueRates();
  const all = withUsed(queues.data ?? [], rates.keys());
  const [edited, setEdited] = useState<Queue | null>(null);
  return (
    <section className="screen">
      <PageHead title="Queues" />
      {queues.error !== null && <Problem error={queues.error} onRetry={() => void queues.refetch()} />}
      {queues.data === undefined ? (
        queues.error === null && <Loading />
      ) : all.length === 0 ? (
        <Empty title="No queue was used in the last hour">
          <p>Queues are created when first used.</p>
          <CopyLine label="Submit to a queue" text={workron('submit --queue mail', "-- 'echo hello'")} />
        </Empty>
      ) : (
        <Listing title="Queues" columns={COLUMNS} className="table-dense">
          {all.map((queue) => (
            <QueueRow key={queue.name} queue={queue} rate={rates.get(queue.name)} onEdit={() => setEdited(queue)} />
          ))}
        </Listing>
      )}
      <Keys />
      {edited !== null && <LimitDialog queue={edited} onClose={() => setEdited(null)} />}
    </section>
  );
}

function QueueRow({ queue, rate, onEdit }: { queue: Queue; rate: QueueRate | undefined; onEdit: () => void }) {
  const link = (status: string, count: number) =>
    count === 0 ? (
      <span className="faint">0</span>
    ) : (
      <Link href={`/jobs?status=${status}&queue=${encodeURIComponent(queue.name)}`}>{compactText(count)}</Link>
    );
  return (
    <tr>
      <th scope="row">
        <Link href={queuePath(queue.name)}>
          <bdi>{visibleLine(queue.name)}</bdi>
        </Link>
        {queue.paused && (
          <span className="badge tone-amber">
            ❚❚ paused
            <span className="visually-hidden">
              {' '}
              <When at={queue.paused_at} />
            </span>
          </span>
        )}
      </th>
      <td data-label="Running">
        <span className="with-meter">
          {link('running', queue.running)}
          {queue.max_running !== null && (
            <>
              <span className="faint">of {queue.max_running}</span>
              <Meter value={queue.running} of={queue.max_running} label={`Running in ${queue.name}`} />
            </>
          )}
          {queue.rate !== null && <span className="faint">starts {startRateText(queue.rate)}</span>}
        </span>
      </td>
      <td className="num" data-label="Pending">
        {link('pending', queue.pending)}
      </td>
      <td data-label="Oldest">
        <Oldest queue={queue} />
      </td>
      <RateCells queue={queue} rate={rate} />
      <td className="num" data-label="Later" title={`${queue.scheduled} scheduled, ${queue.blocked} blocked`}>
        {link('scheduled,blocked', queue.scheduled + queue.blocked)}
      </td>
      <td className="row-actions">
        <QueueActions queue={queue} onEdit={onEdit} small />
      </td>
    </tr>
  );
}

function RateCells({ queue, rate }: { queue: Queue; rate: QueueRate | undefined }) {
  const eta = etaMs(queue, rate);
  return (
    <>
      <td data-label="Last hour">
        <Sparkline values={rate?.trend ?? []} label={`Ended in ${queue.name} over the last hour`} />
      </td>
      <td className="num" data-label="Rate">
        {rateText(rate)}
      </td>
      <td className="num" data-label="p95 wait">
        {rate?.waitP95Ms == null ? '–' : shortSpanOrMs(rate.waitP95Ms)}
      </td>
      <td className={(rate?.failedPerHour ?? 0) > 0 ? 'num why-bad' : 'num'} data-label="Failed/h">
        {rate?.failedPerHour ?? 0}
      </td>
      <td className="num" data-label="Empty in">
        {eta === null ? '–' : shortSpan(eta)}
      </td>
    </>
  );
}
