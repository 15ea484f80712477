import { useEffect, useState } from 'react';
import { client } from '../../data/client.ts';
import { useLive } from '../../data/use-live.ts';
import { Boundary } from '../../parts/boundary.tsx';
import { Loading, Problem } from '../../parts/notes.tsx';
import { PageHead, useTitle } from '../../parts/page-head.tsx';
import { Attention } from './attention.tsx';
import { DayTimeline } from './day-timeline.tsx';
import { QueueList } from './queue-list.tsx';
import { RunningNow } from './running-now.tsx';
import { StatusBand } from './status-band.tsx';
import { Throughput } from './throughput.tsx';
import { Tiles } from './tiles.tsx';
import { Welcome } from './welcome.tsx';
import { WorkerList } from './worker-list.tsx';

/** Today: what is wrong, what ran, what runs and what is next. */
export function Overview() {
  useTitle('Today');
  const queues = useLive({
    key: ['queues'],
    // The stream delivers the counts.
    about: { topics: ['queues'], restMs: 4_000 },
    fetch: (signal) => Array.fromAsync(client.listQueues({ signal })),
  });
  const workers = useLive({
    key: ['workers'],
    about: { topics: ['workers', 'queues'], restMs: 2_000 },
    everyMs: 5_000,
    fetch: (signal) => Array.fromAsync(client.listWorkers({ signal })),
  });
  const day = useLive({
    key: ['stats', 'day'],
    about: { topics: ['jobs'], restMs: 2_000 },
    fetch: (signal) => client.readStats({ from: '24h', step: '1h', by: 'outcome', signal }),
  });
  const some = useHasJobs();
  const error = queues.error ?? workers.error ?? some.error;
  if (queues.data === undefined || workers.data === undefined || some.data === undefined) {
    return error === null ? <Loading /> : <Problem error={error} onRetry={() => void queues.refetch()} />;
  }
  if (!some.data) return <Welcome />;
  return (
    <section className="screen today">
      <PageHead title="Today" />
      <StatusBand queues={queues.data} workers={workers.data} />
      {error !== null && <Problem error={error} />}
      <Tiles queues={queues.data} workers={workers.data} day={day.data} />
      <Boundary name="timeline">
        <DayTimeline />
      </Boundary>
      <Boundary name="chart">
        <Throughput />
      </Boundary>
      <div className="today-grid">
        <div className="today-column">
          <Attention />
          <RunningNow />
        </div>
        <div className="today-column">
          <QueueList queues={queues.data} />
          <WorkerList workers={workers.data} />
        </div>
      </div>
    </section>
  );
}

/** Whether a job was ever submitted. Fetched again only until there is one. */
function useHasJobs() {
  const [greeted, setGreeted] = useState(false);
  const newest = useLive({
    key: ['jobs', 'newest'],
    about: { topics: greeted ? [] : ['jobs'] },
    fetch: (signal) => client.listJobs({ limit: 1 }, { signal }),
  });
  const some = newest.data === undefined ? undefined : newest.data.items.length > 0;
  useEffect(() => setGreeted(some === true), [some]);
  return { data: some, error: newest.error };
}
