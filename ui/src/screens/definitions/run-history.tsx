import { Link } from 'wouter';
import type { DefinitionDetail } from '../../../../src/api/workflow/stored.ts';
import { durationText } from '../../words/duration.ts';
import { dayText } from '../../words/instant.ts';
import { STATE_TONES } from '../../words/state.ts';

type Run = DefinitionDetail['recent']['runs'][number];

const HEIGHT = 48;

/** The runs, oldest first: coloured by outcome, as high as they took. */
export function RunHistory({ name, runs }: { name: string; runs: readonly Run[] }) {
  if (runs.length === 0) return <span className="faint">never run</span>;
  const longest = Math.max(1, ...runs.map(({ duration }) => duration ?? 0));
  return (
    <ol className="run-history" aria-label={`Runs of ${name}`}>
      {runs.toReversed().map((run) => {
        const took = run.duration === null ? '' : ` after ${durationText(run.duration)}`;
        const text = `${dayText(Date.parse(run.created_at))}: workflow ${run.id} ${run.status}${took}`;
        return (
          <li key={run.id}>
            <Link
              href={`/workflows/${run.id}`}
              className={`run-bar tone-${STATE_TONES[run.status] ?? 'grey'}`}
              // Too small for a finger: the list of runs has the same links, also for the keyboard.
              tabIndex={-1}
              style={{ height: Math.max(8, ((run.duration ?? longest) / longest) * HEIGHT) }}
              title={text}
              aria-label={text}
            />
          </li>
        );
      })}
    </ol>
  );
}

/** How many of the recent runs succeeded, and how long half of them took. */
export function RunRate({ recent }: { recent: DefinitionDetail['recent'] }) {
  const ended = recent.done + recent.failed + recent.cancelled;
  if (ended === 0) return <span className="faint">no run has ended</span>;
  const median = recent.median === null ? '' : `, median ${durationText(recent.median)}`;
  if (recent.failed === 0) return <span className="muted">{`${recent.done} of ${ended} succeeded${median}`}</span>;
  return (
    <span>
      <span className={recent.failed * 2 >= ended ? 'loud' : 'state tone-red'}>
        {recent.failed} of {ended} failed
      </span>
      <span className="muted">{median}</span>
    </span>
  );
}
