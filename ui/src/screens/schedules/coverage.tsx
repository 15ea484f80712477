import { Link } from 'wouter';
import type { Schedule } from '../../../../src/api/schedule.ts';
import type { Tick } from '../../../../src/api/tick.ts';
import { client } from '../../data/client.ts';
import { useLive } from '../../data/use-live.ts';
import { tickSentence, VERDICTS } from './verdict.ts';

/** The last ticks as one cell each, oldest first: whether the tick ran, or why not. */
export function Coverage({ schedule, cells }: { schedule: Schedule; cells: number }) {
  const { name, next_run, last_run } = schedule;
  const ticks = useLive({
    // Every tick changes one of these instants, so that in a long list only schedules with a new tick are fetched.
    key: ['ticks', name, cells, next_run, last_run],
    about: { topics: [] },
    keep: true,
    everyMs: 30_000,
    fetch: (signal) => client.ticks(name, { limit: cells }, { signal }),
  });
  const items = (ticks.data?.items ?? []).toReversed();
  if (items.length === 0) return <span className="faint">no tick yet</span>;
  return (
    <ol className="coverage" aria-label={`Last ticks of ${name}`}>
      {items.map((tick) => (
        <li key={tick.id}>
          <Cell tick={tick} />
        </li>
      ))}
    </ol>
  );
}

function Cell({ tick }: { tick: Tick }) {
  const { icon, tone } = VERDICTS[tick.verdict];
  const sentence = tickSentence(tick);
  const href =
    tick.job_id !== null ? `/jobs/${tick.job_id}` : tick.workflow_id !== null ? `/workflows/${tick.workflow_id}` : null;
  const className = `cell fill-${tone}`;
  if (href === null) {
    return (
      <span className={className} role="img" title={sentence} aria-label={sentence}>
        <span aria-hidden="true">{icon}</span>
      </span>
    );
  }
  return (
    <Link href={href} className={className} title={sentence} aria-label={sentence}>
      <span aria-hidden="true">{icon}</span>
    </Link>
  );
}
