import { Link } from 'wouter';
import type { Queue } from '../../../../src/api/queue.ts';
import { withUsed } from '../../../../src/api/used-queues.ts';
import { compactText } from '../../words/count.ts';
import { shortSpan } from '../../words/duration.ts';
import { queuePath } from '../../words/queue-path.ts';
import { visibleLine } from '../../words/visible-text.ts';
import { etaMs, type QueueRate, rateText, useQueueRates } from '../queues/queue-rates.ts';
import { Sparkline } from './sparkline.tsx';

const MAX_SHOWN = 8;

/** The busiest queues: depth, rate, wait and time to empty. */
export function QueueList({ queues }: { queues: readonly Queue[] }) {
  const rates = useQueueRates();
  const all = withUsed(queues, rates.keys()).sort(
    (a, b) =>
      b.pending + b.running - a.pending - a.running ||
      (rates.get(b.name)?.perMinute ?? 0) - (rates.get(a.name)?.perMinute ?? 0),
  );
  return (
    <section className="card" aria-labelledby="queues">
      <header className="card-head">
        <h2 id="queues">Queues</h2>
        <Link href="/queues">All queues</Link>
      </header>
      {all.length === 0 ? (
        <p className="faint">No queue was used in the last hour.</p>
      ) : (
        <table className="mini-table">
          <thead>
            <tr>
              <th scope="col">Queue</th>
              <th scope="col" className="num">
                Waiting
              </th>
              <th scope="col" className="num">
                Running
              </th>
              <th scope="col">Last hour</th>
              <th scope="col" className="num">
                Rate
              </th>
              <th scope="col" className="num">
                p95 wait
              </th>
              <th scope="col" className="num">
                Empty in
              </th>
            </tr>
          </thead>
          <tbody>
            {all.slice(0, MAX_SHOWN).map((queue) => (
              <QueueLine key={queue.name} queue={queue} rate={rates.get(queue.name)} />
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

function QueueLine({ queue, rate }: { queue: Queue; rate: QueueRate | undefined }) {
  const eta = etaMs(queue, rate);
  return (
    <tr>
      <th scope="row">
        <Link href={queuePath(queue.name)}>
          <bdi>{visibleLine(queue.name)}</bdi>
        </Link>
        {queue.paused && <span className="badge tone-amber">paused</span>}
      </th>
      <td className={queue.pending > 0 ? 'num' : 'num faint'}>{compactText(queue.pending)}</td>
      <td className={queue.running > 0 ? 'num' : 'num faint'}>{compactText(queue.running)}</td>
      <td>
        <Sparkline values={rate?.trend ?? []} label={`Ended in ${queue.name} over the last hour`} />
      </td>
      <td className="num">{rateText(rate)}</td>
      <td className="num">{rate?.waitP95Ms == null ? '–' : shortSpanOrMs(rate.waitP95Ms)}</td>
      <td className="num">{eta === null ? '–' : shortSpan(eta)}</td>
    </tr>
  );
}

export function shortSpanOrMs(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)}ms` : shortSpan(ms);
}
