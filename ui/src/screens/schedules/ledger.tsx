import { Link } from 'wouter';
import type { LedgerEntry } from '../../../../src/api/tick.ts';
import { State } from '../../parts/state.tsx';
import { durationText } from '../../words/duration.ts';
import { dayText } from '../../words/instant.ts';
import { lookOf, tickSentence, tookMs } from './verdict.ts';

/** Every tick with its verdict and how its run went, newest first. */
export function Ledger({ ticks }: { ticks: readonly LedgerEntry[] }) {
  return (
    <section className="card" aria-labelledby="ledger">
      <h2 id="ledger">History</h2>
      {ticks.length === 0 ? (
        <p className="faint">It has not been due yet.</p>
      ) : (
        <ul className="ledger" aria-label="Ticks">
          {ticks.map((tick) => (
            <li key={tick.id} title={tickSentence(tick)} data-verdict={tick.verdict}>
              <Outcome tick={tick} />
              <time dateTime={tick.scheduled_for}>{dayText(Date.parse(tick.scheduled_for))}</time>
              {tick.kind !== 'tick' && <span className="badge">{tick.kind}</span>}
              {tick.key !== null && <span className="chip">{tick.key}</span>}
              <span className="spacer" />
              {tookMs(tick) !== null && <span className="faint">{durationText(tookMs(tick) ?? 0)}</span>}
              {tick.job_id !== null && <Link href={`/jobs/${tick.job_id}`}>job {tick.job_id}</Link>}
              {tick.workflow_id !== null && (
                <Link href={`/workflows/${tick.workflow_id}`}>workflow {tick.workflow_id}</Link>
              )}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function Outcome({ tick }: { tick: LedgerEntry }) {
  if (tick.run !== null) return <State of={tick.run.status} />;
  const { icon, tone } = lookOf(tick);
  return (
    <span className={`state tone-${tone}`}>
      <span aria-hidden="true">{icon}</span> {tick.verdict.replace('_', ' ')}
      {tick.count > 1 && ` ×${tick.count}`}
    </span>
  );
}
