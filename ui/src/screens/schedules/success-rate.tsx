import type { ScheduleDetail } from '../../../../src/api/schedule.ts';
import { endedRuns } from '../../../../src/api/words/worries.ts';

type Counted = Pick<ScheduleDetail, 'recent' | 'last_status'>;

/** A schedule fails if its last run failed, or if most of its recent runs did. */
export function isFailing(schedule: Counted): boolean {
  const { ended, failed } = endedRuns(schedule);
  return schedule.last_status === 'failed' || (failed > 0 && failed * 2 >= ended);
}

/** How many of the recent runs succeeded, loud if some failed. */
export function SuccessRate({ schedule }: { schedule: Counted }) {
  const { ended, failed } = endedRuns(schedule);
  if (ended === 0) return <span className="faint">no run has ended yet</span>;
  if (failed === 0)
    return <span className="muted">{ended === 1 ? 'the run succeeded' : `all ${ended} succeeded`}</span>;
  return (
    <span className={isFailing(schedule) ? 'loud' : 'state tone-red'}>
      <span aria-hidden="true">✗</span> {failed} of {ended} failed
    </span>
  );
}
