import { Link } from 'wouter';
import type { Worker } from '../../../../src/api/worker.ts';
import { Meter } from '../../parts/meter.tsx';
import { State } from '../../parts/state.tsx';
import { visibleLine } from '../../words/visible-text.ts';

const MAX_SHOWN = 8;

export function WorkerStrip({ workers }: { workers: readonly Worker[] }) {
  const shown = workers.filter(({ state }) => state !== 'offline');
  return (
    <section className="card" aria-labelledby="workers">
      <header className="card-head">
        <h2 id="workers">Workers</h2>
        <Link href="/workers">all</Link>
      </header>
      {shown.length === 0 ? (
        <p className="faint">None is online.</p>
      ) : (
        <ul className="job-list">
          {shown.slice(0, MAX_SHOWN).map((worker) => (
            <li key={worker.id}>
              <State of={worker.state} quiet />
              <span className="job-link">
                <bdi>{visibleLine(worker.name)}</bdi>
              </span>
              <Meter value={worker.running} of={worker.slots} label={`Slots of ${worker.name} in use`} />
              <span className="faint">
                {worker.running}/{worker.slots}
              </span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
