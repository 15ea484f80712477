import { lazy, Suspense, useEffect, useState } from 'react';
import { Link } from 'wouter';
import { client } from '../../data/client.ts';
import { useLive } from '../../data/use-live.ts';
import { Boundary } from '../../parts/boundary.tsx';
import { Loading, Problem } from '../../parts/notes.tsx';
import { PageHead, useTitle } from '../../parts/page-head.tsx';
import { NowRunning } from '../workers/now-running.tsx';
import { ClusterStrip } from './cluster-strip.tsx';
import { FailureGroups } from './failure-groups.tsx';
import { HealthLine } from './health-line.tsx';
import { NextTicks } from './next-ticks.tsx';
import { Tiles } from './tiles.tsx';
import { Welcome } from './welcome.tsx';
import { WorkerStrip } from './worker-strip.tsx';

const Charts = lazy(() => import('./charts.tsx').then((file) => ({ default: file.Charts })));

/** The overview: health, running jobs, next ticks. */
export function Overview() {
  useTitle('Overview');
  const queues = useLive({
    key: ['queues'],
    // The stream delivers the counts.
    about: { topics: ['queues'], restMs: 4_000 },
    fetch: (signal) => client.queues({ signal }),
  });
  const workers = useLive({
    key: ['workers'],
    about: { topics: ['workers', 'queues'], restMs: 2_000 },
    everyMs: 5_000,
    fetch: (signal) => client.workers({ signal }),
  });
  const day = useLive({
    key: ['stats', 'day'],
    about: { topics: ['jobs'], restMs: 2_000 },
    fetch: (signal) => client.stats({ from: '24h', step: '1h', by: 'outcome', signal }),
  });
  const [greeted, setGreeted] = useState(false);
  const newest = useLive({
    key: ['jobs', 'newest'],
    // Fetched only until there is a job.
    about: { topics: greeted ? [] : ['jobs'] },
    fetch: (signal) => client.jobs({ limit: 1 }, { signal }),
  });
  const some = (newest.data?.items.length ?? 0) > 0;
  useEffect(() => setGreeted(some), [some]);
  const error = queues.error ?? workers.error ?? newest.error;
  if (queues.data === undefined || workers.data === undefined || newest.data === undefined) {
    return error === null ? <Loading /> : <Problem error={error} onRetry={() => void queues.refetch()} />;
  }
  if (!some) return <Welcome />;
  return (
    <section className="screen">
      <PageHead title="Overview" sub={<HealthLine queues={queues.data} workers={workers.data} day={day.data} />} />
      {error !== null && <Problem error={error} />}
      <Tiles queues={queues.data} workers={workers.data} day={day.data} />
      <Boundary name="charts">
        <Suspense fallback={<div className="charts-space" />}>
          <Charts />
        </Suspense>
      </Boundary>
      <div className="overview-grid">
        <section className="card" aria-labelledby="running-now">
          <header className="card-head">
            <h2 id="running-now">Running now</h2>
            <Link href="/jobs?status=running">all</Link>
          </header>
          <NowRunning />
        </section>
        <FailureGroups />
        <NextTicks />
        <WorkerStrip workers={workers.data} />
        <ClusterStrip />
      </div>
    </section>
  );
}
