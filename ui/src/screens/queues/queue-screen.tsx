import { useState } from 'react';
import { Link, useSearchParams } from 'wouter';
import type { Queue } from '../../../../src/api/queue.ts';
import { withUsed } from '../../../../src/api/used-queues.ts';
import { standstillText } from '../../../../src/api/words/worries.ts';
import { client } from '../../data/client.ts';
import { useLive } from '../../data/use-live.ts';
import { useNow } from '../../data/use-now.ts';
import { useWaits } from '../../data/use-waits.ts';
import { CopyLine } from '../../parts/copy.tsx';
import { JobGroup } from '../../parts/job-group.tsx';
import { Empty, Loading, Problem } from '../../parts/notes.tsx';
import { PageHead, useTitle } from '../../parts/page-head.tsx';
import { When } from '../../parts/when.tsx';
import { shellQuote, workron } from '../../words/as-command.ts';
import { compactText } from '../../words/count.ts';
import { shortSpan } from '../../words/duration.ts';
import { rateText as startRateText } from '../../words/rate.ts';
import { visibleLine } from '../../words/visible-text.ts';
import { shortSpanOrMs } from '../overview/queue-list.tsx';
import { Sparkline } from '../overview/sparkline.tsx';
import { WorkerList } from '../overview/worker-list.tsx';
import { LimitDialog } from './limit-dialog.tsx';
import { Oldest } from './oldest.tsx';
import { QueueActions } from './queue-actions.tsx';
import { etaMs, type QueueRate, rateText, useQueueRates } from './queue-rates.ts';

const SHOWN_JOBS = 20;

/** One queue: what waits and runs, its last hour, its limits, its workers and its newest jobs. */
export function QueueScreen() {
  const name = useSearchParams()[0].get('name') || 'default';
  useTitle(name);
  const { queues, workers, jobs } = useQueue(name);
  const rates = useQueueRates();
  const [editing, setEditing] = useState(false);
  if (queues.data === undefined) {
    return queues.error === null ? <Loading /> : <Problem error={queues.error} onRetry={() => void queues.refetch()} />;
  }
  if (!queues.data.some((each) => each.name === name) && !rates.has(name) && jobs.data?.items.length === 0) {
    return (
      <Empty alone title={`Queue ${visibleLine(name)} has no jobs`}>
        <p>It was not used yet, and has no settings.</p>
        <Link href="/queues">All queues</Link>
      </Empty>
    );
  }
  // One without unfinished jobs and settings is not listed.
  const queue = withUsed(queues.data, [name]).find((each) => each.name === name) as Queue;
  const serving = (workers.data ?? []).filter((worker) => worker.queues === null || worker.queues.includes(name));
  return (
    <section className="screen">
      <PageHead
        title={<bdi>{visibleLine(name)}</bdi>}
        sub={
          queue.paused ? (
            <span className="badge tone-amber">
              ❚❚ paused <When at={queue.paused_at} />
            </span>
          ) : (
            <span className="muted">queue</span>
          )
        }
      >
        <QueueActions queue={queue} onEdit={() => setEditing(true)} />
      </PageHead>
      <QueueFacts queue={queue} rate={rates.get(name)} />
      <Standstill queue={queue} />
      <div className="details-grid">
        <JobGroup title="Newest jobs" jobs={jobs.data?.items ?? []} more={`/jobs?queue=${encodeURIComponent(name)}`} />
        <WorkerList workers={serving} none="No worker that is online serves this queue." />
      </div>
      <CopyLine label="CLI command" text={workron(`queues show ${shellQuote(name)}`)} />
      {editing && <LimitDialog queue={queue} onClose={() => setEditing(false)} />}
    </section>
  );
}

/** Why the queue does not move, if its oldest job has waited for long. */
function Standstill({ queue }: { queue: Queue }) {
  const waits = useWaits([queue], useNow());
  const text = standstillText(waits.get(queue.name));
  if (text === null) return null;
  return (
    <p className="why-line" data-why="">
      Its oldest job is <bdi>{visibleLine(text)}</bdi>.
    </p>
  );
}

function useQueue(name: string) {
  const queues = useLive({
    key: ['queues'],
    about: { topics: ['queues'] },
    fetch: (signal) => Array.fromAsync(client.listQueues({ signal })),
  });
  const workers = useLive({
    key: ['workers'],
    about: { topics: ['workers'] },
    fetch: (signal) => Array.fromAsync(client.listWorkers({ signal })),
  });
  const jobs = useLive({
    key: ['jobs', 'in', name],
    about: { topics: ['jobs'], restMs: 2_000 },
    fetch: (signal) => client.listJobs({ queue: name, limit: SHOWN_JOBS }, { signal }),
  });
  return { queues, workers, jobs };
}

function QueueFacts({ queue, rate }: { queue: Queue; rate: QueueRate | undefined }) {
  const eta = etaMs(queue, rate);
  const count = (status: string, value: number) =>
    value === 0 ? (
      '0'
    ) : (
      <Link href={`/jobs?status=${status}&queue=${encodeURIComponent(queue.name)}`}>{compactText(value)}</Link>
    );
  const facts = [
    [
      'Running',
      <>
        {count('running', queue.running)}
        {queue.max_running === null ? '' : ` of ${queue.max_running}`}
      </>,
    ],
    ['Pending', count('pending', queue.pending)],
    ['Oldest', <Oldest key="oldest" queue={queue} />],
    ['Scheduled', count('scheduled', queue.scheduled)],
    ['Blocked', count('blocked', queue.blocked)],
    ['Rate', rateText(rate)],
    ['p95 wait', rate?.waitP95Ms == null ? '–' : shortSpanOrMs(rate.waitP95Ms)],
    [
      'Failed/h',
      <span key="failed" className={(rate?.failedPerHour ?? 0) > 0 ? 'why-bad' : ''}>
        {rate?.failedPerHour ?? 0}
      </span>,
    ],
    ['Empty in', eta === null ? '–' : shortSpan(eta)],
    ['Max running', queue.max_running ?? 'no limit'],
    ['Max rate', queue.rate === null ? 'no limit' : startRateText(queue.rate)],
    [
      'Last hour',
      <Sparkline key="trend" values={rate?.trend ?? []} label={`Ended in ${queue.name} over the last hour`} />,
    ],
  ] as const;
  return (
    <dl className="facts">
      {facts.map(([title, value]) => (
        <div key={title}>
          <dt>{title}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
