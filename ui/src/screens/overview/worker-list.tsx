import { Link } from 'wouter';
import type { Worker } from '../../../../src/api/worker.ts';
import { Slots } from '../../parts/slots.tsx';
import { State } from '../../parts/state.tsx';
import { visibleLine } from '../../words/visible-text.ts';

const MAX_SHOWN = 8;

/** The workers that are online, with a dot for each slot. */
export function WorkerList({ workers, none = 'No worker is online.' }: { workers: readonly Worker[]; none?: string }) {
  const shown = workers.filter(({ state }) => state !== 'offline');
  return (
    <section className="card" aria-labelledby="workers">
      <header className="card-head">
        <h2 id="workers">Workers</h2>
        <Link href="/workers">All workers</Link>
      </header>
      {shown.length === 0 ? (
        <p className="why-bad">{none}</p>
      ) : (
        <ul className="job-list">
          {shown.slice(0, MAX_SHOWN).map((worker) => (
            <li key={worker.id}>
              <State of={worker.state} quiet />
              <span className="job-link">
                <bdi>{visibleLine(worker.name)}</bdi>
              </span>
              <Slots
                running={worker.running}
                slots={worker.slots}
                more={worker.held - worker.running}
                label={`Slots of ${worker.name} in use`}
              />
              <span className="faint num">
                {worker.running}/{worker.slots}
              </span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
