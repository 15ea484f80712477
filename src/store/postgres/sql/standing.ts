/** Parts of statements that derive a job's state from other rows, as functions of the quoted schema. */

import type { NotifyEvent } from '../../../core/notify.ts';
import { FLAG } from '../../flags.ts';

/** The status of an unfinished job. */
export function statusOf(live: string): string {
  return `case when ${live}.claimed then 'running' else ${live}.listed_as end`;
}

/** True if the job can be claimed. */
export function isPending(live: string): string {
  return `${live}.listed_as = 'pending' and not ${live}.claimed`;
}

/** The row of `run` that ended a job. `offset 0`: see `liveOf`. */
export function endOf(s: string, jobId: string): string {
  return `(select * from ${s}.run r where r.job_id = ${jobId} and ${isFinal('r')} offset 0)`;
}

/**
 * The live row of a job. `offset 0`: it is looked up by the job's id. In a join PostgreSQL would read all live rows where it takes the other side
 * for larger than it is.
 */
export function liveOf(s: string, jobId: string): string {
  return `(select * from ${s}.live where job_id = ${jobId} offset 0)`;
}

/** The jobs of a lane that can be claimed. `offset 0`: see `liveOf`. */
export function pendingOf(s: string, lane: string): string {
  return `(select l.job_id from ${s}.live l where l.lane = ${lane} and ${isPending('l')} offset 0)`;
}

/**
 * True if this row of `run` ended its job. `coalesce` stops the planner from using the index run_not_done, where the job's id
 * comes second: it would choose that index while the table is small and keep it in cached plans. It must use the primary key.
 */
export function isFinal(row: string): string {
  return `coalesce(${row}.status, '') <> ''`;
}

/**
 * The state of an edge `e`. A success that was propagated to all children is not written to the edges: an edge
 * that is `open` there counts as held. Such a parent never runs again. `offset 0`: without it, PostgreSQL may read the whole table
 * once instead of looking up each parent.
 */
export function edgeState(s: string): string {
  return `case when e.state = 'open' and exists (
        select 1 from ${s}.run r where r.job_id = e.parent_id and r.propagated offset 0) then 'held' else e.state end`;
}

/** The line of a schedule that job `j` runs for. A step has none: its workflow is the run. */
export const lineOfJob = `case when j.workflow_id is null then (j.spec -> 'tick' ->> 'line')::bigint end`;

/** The flag, if a target of job `j` wants one of the events; else 0. */
function wants(events: readonly NotifyEvent[], flag: number): string {
  const isOne = events.map((event) => `@ == "${event}"`).join(' || ');
  return `case when j.spec @? '$.notify[*].on[*] ? (${isOne})' then ${flag} else 0 end`;
}

/** The flags of a job `j` that waits again. Its unique key is not taken again. `offset 0`: see `edgeState`. */
export function flagsOf(s: string): string {
  return `(case when exists (select 1 from ${s}.edge o where o.parent_id = j.id offset 0) then ${FLAG.hasChildren} else 0 end
      | case when exists (select 1 from ${s}.job_group f where f.job_id = j.id offset 0) then ${FLAG.group} else 0 end
      | case when j.workflow_id is not null then ${FLAG.inWorkflow} else 0 end
      | case when exists (select 1 from ${s}.edge o where o.child_id = j.id offset 0) then ${FLAG.hasParents} else 0 end
      | case when j.group_id is not null then ${FLAG.item}
          when not j.spec ? 'notify' then 0
          else ${wants(['failed', 'recovered', 'slow'], FLAG.notifiesFailure)}
            | ${wants(['done', 'recovered', 'slow'], FLAG.notifiesSuccess)} | ${wants(['cancelled'], FLAG.notifiesCancel)} end
      | case when j.spec ->> 'rerun' = 'never' or (j.spec -> 'max_attempts')::integer <= 1 then ${FLAG.neverPrefetched} else 0 end
      | case when j.spec -> 'gang' ->> 'onMemberFailure' <> 'continue' then ${FLAG.member} else 0 end
      | case when j.spec ? 'limits' then ${FLAG.hasLimits} else 0 end
      | case when j.spec ->> 'start_timeout_ms' is null then ${FLAG.hasNoStartTimeout} else 0 end)`;
}

/** The counters of a child's edges, with `state` as the state of an edge; all 0 if there are none. */
export function countersOf(s: string, child: string, state: string): string {
  return `lateral (
        select count(*) filter (where ${state} = 'open') as open, count(*) filter (where ${state} = 'held') as held,
          count(*) filter (where ${state} = 'impossible' and e.condition = 'success') as broken,
          count(*) filter (where ${state} = 'impossible' and e.condition = 'failure') as missed
        from ${s}.edge e where e.child_id = ${child})`;
}
