import { Link } from 'wouter';
import type { LedgerEntry } from '../../../../src/api/tick.ts';
import { clockText, dateText } from '../../words/instant.ts';
import { lookOf, runHref, tickSentence } from './verdict.ts';

export interface CoverageProps {
  name: string;
  /** The ledger, newest first. */
  ticks: readonly LedgerEntry[];
  cells: number;
}

/** The last ticks as one cell each, oldest first, with the dates of the first and the last. */
export function Coverage({ name, ticks, cells }: CoverageProps) {
  // A backfill is recorded later than the ticks around it.
  const shown = ticks.slice(0, cells).toSorted((a, b) => Date.parse(a.scheduled_for) - Date.parse(b.scheduled_for));
  const [first, last] = [shown[0], shown.at(-1)];
  if (first === undefined || last === undefined) return null;
  const [from, to] = datesOf(Date.parse(first.scheduled_for), Date.parse(last.through));
  return (
    <div className="coverage-frame">
      <ol className="coverage" aria-label={`Last ticks of ${name}`}>
        {shown.map((tick) => (
          <li key={tick.id}>
            <Cell tick={tick} />
          </li>
        ))}
      </ol>
      <div className="coverage-dates faint" aria-hidden="true">
        <span>{from}</span>
        {shown.length > 3 && <span>{to}</span>}
      </div>
    </div>
  );
}

/** Dates; within one day also the times. */
function datesOf(first: number, last: number): [string, string] {
  const [from, to] = [dateText(first), dateText(last)];
  return from === to && first !== last ? [`${from} ${clockText(first)}`, clockText(last)] : [from, to];
}

function Cell({ tick }: { tick: LedgerEntry }) {
  const { icon, tone, outcome, hollow } = lookOf(tick);
  const sentence = tickSentence(tick);
  const href = runHref(tick);
  const about = {
    className: `cell tone-${tone}${hollow ? ' cell-hollow' : ''}`,
    'data-outcome': outcome,
    title: sentence,
    'aria-label': sentence,
  };
  const content = <span aria-hidden="true">{icon}</span>;
  if (href === null) {
    return (
      <span {...about} role="img">
        {content}
      </span>
    );
  }
  return (
    // Too small for a finger: the schedule's own list has the same links, also for the keyboard.
    <Link {...about} href={href} tabIndex={-1}>
      {content}
    </Link>
  );
}
