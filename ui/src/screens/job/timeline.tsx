import type { Attempt, JobDetail } from '../../../../src/api/job.ts';
import { When } from '../../parts/when.tsx';
import { durationText } from '../../words/duration.ts';
import { exactInstant } from '../../words/instant.ts';
import { hasEnded, STATE_ICONS, STATE_TONES } from '../../words/state.ts';
import { visibleLine } from '../../words/visible-text.ts';
import { useWorkerNames } from './worker-name.tsx';

interface Moment {
  at: string;
  what: string;
  state: string;
}

/** The events of the job in order, with the time between them. */
export function Timeline({ job, attempts }: { job: JobDetail; attempts: readonly Attempt[] }) {
  const moments = momentsOf(job, attempts, useWorkerNames());
  return (
    <ol className="timeline">
      {moments.map(({ at, what, state }, index) => {
        const before = moments[index - 1];
        return (
          <li key={`${at} ${what}`}>
            <span className={`timeline-icon tone-${STATE_TONES[state] ?? 'grey'}`} aria-hidden="true">
              {STATE_ICONS[state] ?? '·'}
            </span>
            <span className="timeline-what">{what}</span>
            <span className="faint">
              {before === undefined ? '' : `+${durationText(Date.parse(at) - Date.parse(before.at))}`}
            </span>
            <span className="faint">
              {exactInstant(Date.parse(at))} (<When at={at} />)
            </span>
          </li>
        );
      })}
    </ol>
  );
}

function momentsOf(job: JobDetail, attempts: readonly Attempt[], workers: ReadonlyMap<string, string>): Moment[] {
  const submitted = job.submitted_by === null ? 'submitted' : `submitted by ${visibleLine(job.submitted_by)}`;
  const moments: Moment[] = [{ at: job.created_at, what: submitted, state: 'pending' }];
  if (job.run_at > job.created_at) moments.push({ at: job.run_at, what: 'due', state: 'scheduled' });
  for (const attempt of attempts) {
    const how = attempt.signal ?? (attempt.exit_code === null ? '' : `exit ${attempt.exit_code}`);
    const worker =
      attempt.worker_id === null ? '' : ` on ${workers.get(attempt.worker_id) ?? `worker ${attempt.worker_id}`}`;
    moments.push({ at: attempt.started_at, what: `attempt ${attempt.attempt} started${worker}`, state: 'running' });
    moments.push({
      at: attempt.ended_at,
      what: `attempt ${attempt.attempt} ${attempt.outcome}${how === '' ? '' : ` (${how})`}`,
      state: attempt.outcome,
    });
  }
  if (job.status === 'running' && job.started_at !== null) {
    moments.push({ at: job.started_at, what: `attempt ${job.attempts} started`, state: 'running' });
  }
  if (job.cancel_requested_at !== null)
    moments.push({ at: job.cancel_requested_at, what: 'asked to stop', state: 'cancelled' });
  if (
    hasEnded(job.status) &&
    job.done_at !== null &&
    !moments.some(({ at, state }) => at === job.done_at && state === job.status)
  ) {
    moments.push({ at: job.done_at, what: job.status, state: job.status });
  }
  return moments.toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at));
}
