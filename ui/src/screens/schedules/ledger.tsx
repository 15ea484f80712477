import { Link, useSearch } from 'wouter';
import type { LedgerEntry } from '../../../../src/api/tick.ts';
import { State } from '../../parts/state.tsx';
import { durationText } from '../../words/duration.ts';
import { dayText } from '../../words/instant.ts';
import { isDeleted, lookOf, runHref, tickSentence, tookMs } from './verdict.ts';

/** Every tick with its verdict and how its run went, newest first. */
export function Ledger({ ticks }: { ticks: readonly LedgerEntry[] }) {
  const wanted = new URLSearchParams(useSearch()).get('tick');
  return (
    <section className="card" aria-labelledby="ledger">
      <h2 id="ledger">History</h2>
      {ticks.length === 0 ? (
        <p className="faint">It has not been due yet.</p>
      ) : (
        <ul className="ledger" aria-label="Ticks">
          {ticks.map((tick) => (
            <li
              key={tick.id}
              title={tickSentence(tick)}
              data-verdict={tick.verdict}
              {...(isTick(tick, wanted) && { 'aria-current': true, ref: show })}
            >
              <Outcome tick={tick} />
              <time dateTime={tick.scheduled_for}>{dayText(Date.parse(tick.scheduled_for))}</time>
              {tick.kind !== 'tick' && <span className="badge">{tick.kind}</span>}
              {tick.key !== null && <span className="chip">{tick.key}</span>}
              <span className="spacer" />
              {tookMs(tick) !== null && <span className="faint">{durationText(tookMs(tick) ?? 0)}</span>}
              <Run tick={tick} />
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

/** Whether it is the tick that a job or workflow in `wanted` has run for. */
function isTick({ job_id, workflow_id }: LedgerEntry, wanted: string | null): boolean {
  return wanted !== null && (wanted === `job ${job_id}` || wanted === `workflow ${workflow_id}`);
}

function show(row: HTMLLIElement | null): void {
  row?.scrollIntoView({ block: 'center' });
}

function Run({ tick }: { tick: LedgerEntry }) {
  const href = runHref(tick);
  const name = tick.job_id === null ? `workflow ${tick.workflow_id}` : `job ${tick.job_id}`;
  if (href !== null) return <Link href={href}>{name}</Link>;
  return isDeleted(tick) ? <span className="faint">{name}, deleted</span> : null;
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
