import { Link } from 'wouter';
import type { JobDetail } from '../../../../src/api/job.ts';
import { dayText } from '../../words/instant.ts';
import { visibleLine } from '../../words/visible-text.ts';

/** Where the job comes from: the tick of a schedule, the step of a workflow, an earlier job. */
export function Origin({ job }: { job: JobDetail }) {
  const { tick, workflow_id, step, group_id, rerun_of } = job;
  return (
    <>
      {tick !== null && (
        <span>
          <Link href={`/schedules/${tick.schedule}?tick=job+${job.id}`}>{tick.schedule}</Link>{' '}
          <span className="faint">
            {tick.kind === 'manual' ? 'run manually' : `due ${dayText(Date.parse(tick.scheduled_for))}`}
            {tick.key !== null && ` for ${visibleLine(tick.key)}`}
          </span>
        </span>
      )}
      {workflow_id !== null && (
        <span>
          {step !== null && <span className="faint">step {visibleLine(step)} of </span>}
          <Link href={`/workflows/${workflow_id}`}>workflow {workflow_id}</Link>
        </span>
      )}
      {group_id !== null && <Link href={`/jobs/${group_id}`}>for_each step {group_id}</Link>}
      {rerun_of !== null && <Link href={`/jobs/${rerun_of}`}>rerun of {rerun_of}</Link>}
    </>
  );
}
