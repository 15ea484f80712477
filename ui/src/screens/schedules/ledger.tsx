import { Link } from 'wouter';
import { client } from '../../data/client.ts';
import { useLive } from '../../data/use-live.ts';
import { When } from '../../parts/when.tsx';
import { tickSentence, VERDICTS } from './verdict.ts';

/** Every tick with its verdict, newest first. */
export function Ledger({ name }: { name: string }) {
  const ticks = useLive({
    key: ['ticks', name, 50],
    about: { topics: ['jobs'] },
    fetch: (signal) => client.ticks(name, { limit: 50 }, { signal }),
  });
  const items = ticks.data?.items ?? [];
  return (
    <section className="card" aria-labelledby="ledger">
      <h2 id="ledger">Ticks</h2>
      {items.length === 0 ? (
        <p className="faint">None yet.</p>
      ) : (
        <ul className="ledger" aria-label="Ticks">
          {items.map((tick) => {
            const { icon, tone } = VERDICTS[tick.verdict];
            return (
              <li key={tick.id} title={tickSentence(tick)} data-verdict={tick.verdict}>
                <span className={`state tone-${tone}`}>
                  <span aria-hidden="true">{icon}</span> {tick.verdict.replace('_', ' ')}
                  {tick.count > 1 && ` ×${tick.count}`}
                </span>
                <When at={tick.scheduled_for} />
                {tick.kind !== 'tick' && <span className="badge">{tick.kind}</span>}
                {tick.key !== null && <span className="chip">{tick.key}</span>}
                <span className="spacer" />
                {tick.job_id !== null && <Link href={`/jobs/${tick.job_id}`}>job {tick.job_id}</Link>}
                {tick.workflow_id !== null && (
                  <Link href={`/workflows/${tick.workflow_id}`}>workflow {tick.workflow_id}</Link>
                )}
              </li>
            );
          })}
        </ul>
      )}
    </section>
  );
}
