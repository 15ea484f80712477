import { useState } from 'react';
import { Link } from 'wouter';
import type { Worker } from '../../../../src/api/worker.ts';
import { client } from '../../data/client.ts';
import { API_URL } from '../../data/place.ts';
import { useAction } from '../../data/use-action.ts';
import { useLive } from '../../data/use-live.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { CopyLine } from '../../parts/copy.tsx';
import { Meter } from '../../parts/meter.tsx';
import { Empty, Loading, Problem } from '../../parts/notes.tsx';
import { PageHead, useTitle } from '../../parts/page-head.tsx';
import { State } from '../../parts/state.tsx';
import { When } from '../../parts/when.tsx';
import { visibleLine } from '../../words/visible-text.ts';
import { NowRunning } from './now-running.tsx';

const EVERY_MS = 5_000;

/** The workers: slots, running jobs, last heartbeat. */
export function Workers() {
  useTitle('Workers');
  const workers = useLive({
    key: ['workers'],
    about: { topics: ['workers', 'queues'] },
    // Heartbeats send no hint.
    everyMs: EVERY_MS,
    fetch: (signal) => client.workers({ signal }),
  });
  const [draining, setDraining] = useState<Worker | null>(null);
  const drain = useAction({
    run: (worker: Worker) => client.drainWorker(worker.id),
    done: (worker) => `Worker ${worker.name} finishes what it has, and leaves`,
  });
  return (
    <section className="screen">
      <PageHead title="Workers" />
      {workers.error !== null && <Problem error={workers.error} onRetry={() => void workers.refetch()} />}
      {workers.data === undefined ? (
        workers.error === null && <Loading />
      ) : workers.data.length === 0 ? (
        <Empty title="No worker is here">
          <CopyLine label="Start one" text={`workron worker --scheduler ${API_URL}`} />
        </Empty>
      ) : (
        <div className="cards">
          {workers.data.map((worker) => (
            <WorkerCard key={worker.id} worker={worker} onDrain={() => setDraining(worker)} />
          ))}
        </div>
      )}
      {workers.data !== undefined && workers.data.length > 0 && (
        <CopyLine label="Add another, on any machine" text={`workron worker --scheduler ${API_URL}`} />
      )}
      {draining !== null && (
        <Confirm
          title={`Drain worker ${visibleLine(draining.name)}?`}
          verb="Drain it"
          danger
          onConfirm={() => drain.run(draining)}
          onClose={() => setDraining(null)}
        >
          <p>
            It takes no more work, finishes the {draining.running} it has, and leaves. It does not come back by itself.
          </p>
        </Confirm>
      )}
    </section>
  );
}

function WorkerCard({ worker, onDrain }: { worker: Worker; onDrain: () => void }) {
  const facts: [string, string][] = [
    ['queues', worker.queues === null ? 'all' : worker.queues.join(', ')],
    ['runs', [worker.commands ? 'commands' : '', ...worker.handlers].filter((each) => each !== '').join(', ')],
    ['tags', worker.tags.join(', ')],
    [
      'resources',
      Object.entries(worker.resources)
        .map(([name, amount]) => `${name} ${amount}`)
        .join(', '),
    ],
    ['version', worker.version],
  ];
  return (
    <article className={worker.state === 'offline' ? 'card card-faint' : 'card'} aria-label={`Worker ${worker.name}`}>
      <header className="card-head">
        <h2>
          <bdi>{visibleLine(worker.name)}</bdi>
        </h2>
        <State of={worker.state} />
      </header>
      <p className="with-meter">
        <span>
          {worker.running} of {worker.slots} slots
        </span>
        <Meter value={worker.running} of={worker.slots} label={`Slots of ${worker.name} in use`} />
      </p>
      <p className="faint small-text">
        {worker.attachment} · {visibleLine(worker.host)}
        {worker.pid !== null && ` · pid ${worker.pid}`} · heartbeat <When at={worker.last_heartbeat} /> · since{' '}
        <When at={worker.registered_at} />
      </p>
      <dl className="pairs">
        {facts.map(([title, text]) =>
          text === '' ? null : (
            <div key={title}>
              <dt>{title}</dt>
              <dd>
                <bdi>{visibleLine(text)}</bdi>
              </dd>
            </div>
          ),
        )}
      </dl>
      {worker.running > 0 && <NowRunning workerId={worker.id} />}
      <footer className="card-foot">
        <Link href={`/jobs?worker_id=${worker.id}`}>Its jobs</Link>
        <span className="spacer" />
        {worker.state === 'online' && (
          <button type="button" className="small" onClick={onDrain}>
            Drain…
          </button>
        )}
      </footer>
    </article>
  );
}
