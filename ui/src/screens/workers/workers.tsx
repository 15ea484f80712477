import { useState } from 'react';
import type { Worker } from '../../../../src/api/worker.ts';
import { client } from '../../data/client.ts';
import { API_URL } from '../../data/place.ts';
import { useAction } from '../../data/use-action.ts';
import { useLive } from '../../data/use-live.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { CopyLine } from '../../parts/copy.tsx';
import { Empty, Loading, Problem } from '../../parts/notes.tsx';
import { PageHead, useTitle } from '../../parts/page-head.tsx';
import { shellQuote, workron } from '../../words/as-command.ts';
import { countText } from '../../words/count.ts';
import { offlineLast } from '../../words/state.ts';
import { visibleLine } from '../../words/visible-text.ts';
import { WorkerCard } from './worker-card.tsx';

const EVERY_MS = 5_000;

/** The workers: slots, running jobs, last heartbeat. */
export function Workers() {
  useTitle('Workers');
  const workers = useLive({
    key: ['workers'],
    about: { topics: ['workers', 'queues'] },
    // Heartbeats send no hint.
    everyMs: EVERY_MS,
    fetch: (signal) => Array.fromAsync(client.listWorkers({ signal })),
  });
  const [draining, setDraining] = useState<Worker | null>(null);
  const { drain, undrain } = useDrain();
  return (
    <section className="screen">
      <PageHead title="Workers" />
      {workers.error !== null && <Problem error={workers.error} onRetry={() => void workers.refetch()} />}
      {workers.data === undefined ? (
        workers.error === null && <Loading />
      ) : workers.data.length === 0 ? (
        <Empty title="No worker is online">
          <AddWorker />
        </Empty>
      ) : (
        <div className="cards">
          {offlineLast(workers.data).map((worker) => (
            <WorkerCard
              key={worker.id}
              worker={worker}
              onDrain={() => setDraining(worker)}
              onUndrain={() => undrain.run(worker)}
            />
          ))}
        </div>
      )}
      {workers.data !== undefined && workers.data.length > 0 && <AddWorker />}
      {draining !== null && (
        <Confirm
          title={`Drain worker ${visibleLine(draining.name)}?`}
          verb="Drain it"
          danger
          cli={workron(`workers drain ${draining.id}`)}
          onConfirm={() => drain.run(draining)}
          onClose={() => setDraining(null)}
        >
          <p>
            It takes no new jobs and finishes its {countText(draining.running, 'running job')}. A worker in its own
            process then shuts down; any other stays and can be undrained.
          </p>
        </Confirm>
      )}
    </section>
  );
}

function useDrain() {
  const drain = useAction({
    run: (worker: Worker) => client.drainWorker(worker.id),
    done: ({ name }) => `Worker ${name} finishes its running jobs and takes no new ones`,
  });
  const undrain = useAction({
    run: (worker: Worker) => client.undrainWorker(worker.id),
    done: ({ name, state }) => `Worker ${name} ${state === 'offline' ? 'has left' : 'takes jobs again'}`,
  });
  return { drain, undrain };
}

/** A loopback address is of no use on another machine. */
const LOCAL = ['127.0.0.1', 'localhost', '[::1]'].includes(location.hostname);

function AddWorker() {
  return (
    <div className="stack">
      <CopyLine
        label={LOCAL ? 'Add a worker on this machine' : 'Add a worker on any machine'}
        text={`workron worker --scheduler ${shellQuote(API_URL)}`}
      />
      {LOCAL && (
        <p className="faint small-text">
          This server listens on this machine only. For workers on other machines, start it with <code>--host</code> and
          a token.
        </p>
      )}
    </div>
  );
}
