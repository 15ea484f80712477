import { Fragment } from 'react';
import { Link } from 'wouter';
import { byteText } from '../../../../src/api/byte-text.ts';
import type { Worker } from '../../../../src/api/worker.ts';
import { May } from '../../parts/may.tsx';
import { Meter } from '../../parts/meter.tsx';
import { Slots } from '../../parts/slots.tsx';
import { State } from '../../parts/state.tsx';
import { When } from '../../parts/when.tsx';
import { countText } from '../../words/count.ts';
import { visibleLine } from '../../words/visible-text.ts';
import { NowRunning } from './now-running.tsx';

interface WorkerCardProps {
  worker: Worker;
  onDrain: () => void;
  onUndrain: () => void;
}

export function WorkerCard({ worker, onDrain, onUndrain }: WorkerCardProps) {
  return (
    <article className={worker.state === 'offline' ? 'card card-faint' : 'card'} aria-label={`Worker ${worker.name}`}>
      <header className="card-head">
        <h2>
          <bdi>{visibleLine(worker.name)}</bdi>
        </h2>
        <State of={worker.state} />
      </header>
      <div className="amounts">
        <span>
          {worker.running} of {countText(worker.slots, 'slot')}
        </span>
        <Slots
          running={worker.running}
          slots={worker.slots}
          more={worker.held - worker.running}
          label={`Slots of ${worker.name} in use`}
        />
        <Resources worker={worker} />
      </div>
      <Reserved worker={worker} />
      <p className="faint small-text">
        {worker.attachment} · {visibleLine(worker.host)}
        {worker.pid !== null && ` · pid ${worker.pid}`} · heartbeat <When at={worker.last_heartbeat} /> · since{' '}
        <When at={worker.registered_at} />
      </p>
      <dl className="pairs">
        {factsOf(worker).map(([title, text]) =>
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
        <Link href={`/jobs?worker_id=${worker.id}`}>Show jobs</Link>
        <span className="spacer" />
        <May scope="operate">
          {worker.state === 'online' && (
            <button type="button" className="small" onClick={onDrain}>
              Drain…
            </button>
          )}
          {worker.state === 'draining' && (
            <button type="button" className="small" onClick={onUndrain}>
              Undrain
            </button>
          )}
        </May>
      </footer>
    </article>
  );
}

function factsOf(worker: Worker): [string, string][] {
  return [
    ['queues', worker.queues === null ? 'all' : worker.queues.join(', ')],
    ['runs', [worker.commands ? 'commands' : '', ...worker.handlers].filter((each) => each !== '').join(', ')],
    ['tags', worker.tags.join(', ')],
    ['version', worker.version],
  ];
}

/** What is in use of each resource. */
function Resources({ worker: { name: worker, resources, used } }: { worker: Worker }) {
  return Object.entries(resources).map(([name, total]) => (
    <Fragment key={name}>
      <span>
        {amountText(name, used[name] ?? 0)} of {amountText(name, total)} <bdi>{visibleLine(nameText(name))}</bdi>
      </span>
      <Meter value={used[name] ?? 0} of={total} label={`${name} of ${worker} in use`} />
    </Fragment>
  ));
}

/** The job for which the worker holds what becomes free. */
function Reserved({ worker: { reserved } }: { worker: Worker }) {
  if (reserved === null) return null;
  return (
    <p className="small-text">
      Holds{' '}
      {Object.entries(reserved.resources)
        .map(([name, amount]) => `${amountText(name, amount)} ${visibleLine(nameText(name))}`)
        .join(', ')}{' '}
      for <Link href={`/jobs/${reserved.job_id}`}>job {reserved.job_id}</Link>
      {reserved.starts_at !== null && (
        <>
          ; expected start: <When at={reserved.starts_at} />
        </>
      )}
    </p>
  );
}

/** Resources whose name ends in `_mb` are counted in MiB. */
function amountText(name: string, amount: number): string {
  return name.endsWith('_mb') ? byteText(amount * 1024 ** 2) : String(amount);
}

function nameText(name: string): string {
  return name.replace(/_mb$/, '');
}
