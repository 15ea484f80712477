import { memo } from 'react';
import { Link } from 'wouter';
import type { ListedJob } from '../../../../src/api/job.ts';
import { JobLink } from '../../parts/job-link.tsx';
import { Progress } from '../../parts/progress.tsx';
import { State } from '../../parts/state.tsx';
import { Took, When } from '../../parts/when.tsx';
import { countText } from '../../words/count.ts';
import { gangHref, givenTags } from '../../words/gang.ts';
import { jobTitle } from '../../words/job-title.ts';
import { visibleLine } from '../../words/visible-text.ts';

export interface JobRowProps {
  job: ListedJob | undefined;
  index: number;
  top: number;
  height: number;
  selected: boolean;
  current: boolean;
  /** The name of its worker, if it is known. */
  worker: string | undefined;
  /** `null` if the user may do nothing with selected jobs. */
  onSelect: ((id: string, on: boolean) => void) | null;
  onOpen: (id: string | null) => void;
}

/** One job in the list. */
export const JobRow = memo(function JobRow(props: JobRowProps) {
  const { job, index, top, height, selected, current, worker, onSelect, onOpen } = props;
  const place = { transform: `translateY(${top}px)`, height };
  if (job === undefined)
    return <div className="job-row job-row-empty" role="row" aria-rowindex={index + 2} style={place} />;
  const classes = `job-row${selected ? ' job-row-selected' : ''}${current ? ' job-row-current' : ''}`;
  return (
    <div
      className={classes}
      role="row"
      aria-rowindex={index + 2}
      data-job={job.id}
      style={place}
      // Links and the checkbox act themselves; the keyboard has `o`.
      onClick={(event) => {
        if (!(event.target as Element).closest('a, input, button')) onOpen(job.id);
      }}
    >
      <div role="cell" className="col-0">
        {onSelect !== null && (
          <input
            type="checkbox"
            checked={selected}
            aria-label={`Select ${jobTitle(job)}, job ${job.id}`}
            onChange={(event) => onSelect(job.id, event.target.checked)}
          />
        )}
      </div>
      <div role="cell" className="col-1">
        <State of={job.status} />
      </div>
      <div role="cell" className="col-2">
        <JobLink job={job} />
        {job.status === 'running' && job.progress !== null ? (
          <Progress job={job} />
        ) : (
          <span className={job.status === 'failed' ? 'job-sub job-error' : 'job-sub'}>{subtitle(job)}</span>
        )}
      </div>
      <div role="cell" className="col-3">
        <bdi>{visibleLine(job.queue)}</bdi>
      </div>
      <div role="cell" className="col-4" title={`${job.failures} of ${countText(job.max_attempts, 'attempt')} failed`}>
        {job.attempts}
      </div>
      <div role="cell" className="col-5">
        <Took of={job} />
      </div>
      <div role="cell" className="col-6">
        <When at={job.created_at} />
      </div>
      <div role="cell" className="col-7">
        <From job={job} />
      </div>
      <div role="cell" className="col-8 faint">
        <bdi>{worker === undefined ? (job.worker_id ?? '') : visibleLine(worker)}</bdi>
      </div>
    </div>
  );
});

/** The gang of a member; else the schedule or the workflow that started the job. */
function From({ job: { gang, tick, workflow_id } }: { job: ListedJob }) {
  if (gang !== null && gang.id !== '') {
    return (
      <Link href={gangHref(gang.id)}>
        gang {gang.rank + 1}/{gang.size}
      </Link>
    );
  }
  if (tick !== null) return <Link href={`/schedules/${tick.schedule}`}>{tick.schedule}</Link>;
  return workflow_id === null ? null : <Link href={`/workflows/${workflow_id}`}>workflow {workflow_id}</Link>;
}

/** Details that distinguish the job: its error, else its tags, else its command. */
function subtitle(job: ListedJob): string {
  const parts = [`#${job.id}`];
  if (job.status === 'failed' && job.failure !== null) parts.push(job.failure.line);
  else if (givenTags(job).length > 0) parts.push(givenTags(job).join(', '));
  else if (job.name !== null && job.command !== null) parts.push(job.command.trim().split('\n', 1)[0] ?? '');
  if (job.cut !== undefined) parts.push(`long ${job.cut.join(', ')}: open the job for all of it`);
  return visibleLine(parts.join(' · '));
}
