import { Link } from 'wouter';
import { client } from '../../data/client.ts';
import { useLive } from '../../data/use-live.ts';
import { State } from '../../parts/state.tsx';
import { visibleLine } from '../../words/visible-text.ts';

/** The instances, and whether every duty has a leader. */
export function ClusterStrip() {
  const cluster = useLive({
    key: ['cluster'],
    about: { topics: ['workers'] },
    everyMs: 5_000,
    fetch: (signal) => client.cluster({ signal }),
  });
  const instances = (cluster.data?.instances ?? []).filter(({ state }) => state === 'online');
  const alone = (cluster.data?.duties ?? []).filter(({ leader }) => leader === null);
  return (
    <section className="card" aria-labelledby="schedulers">
      <header className="card-head">
        <h2 id="schedulers">Schedulers</h2>
        <Link href="/cluster">all</Link>
      </header>
      <ul className="job-list">
        {instances.map((instance) => (
          <li key={instance.id}>
            <State of={instance.state} quiet />
            <span className="job-link">
              <bdi>{visibleLine(instance.id)}</bdi>
            </span>
            <span className="faint">
              {instance.leads.length === 0 ? 'stands by' : `leads ${instance.leads.length}`}
            </span>
          </li>
        ))}
      </ul>
      {alone.length > 0 && <p className="why-bad">Nobody leads {alone.map(({ duty }) => duty).join(', ')}.</p>}
    </section>
  );
}
