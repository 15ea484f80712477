/** Parts of statements that derive a job's state from its rows. */

import { locking, type Part, raw, type Spelling, spelled, sql } from '../sql/sql.ts';

/** The status of an unfinished job. PostgreSQL derives it, so that a claim writes to no index. */
export function statusOf(live: string): Spelling {
  return (dialect) =>
    raw(
      dialect === 'postgres' ? `case when ${live}.claimed then 'running' else ${live}.listed_as end` : `${live}.status`,
    );
}

/** The column with the status of a job that is not claimed. */
export const listed = spelled({ sqlite: raw('status'), postgres: raw('listed_as') });

/** True if an unfinished job can be claimed. */
export function isPending(live: string): Spelling {
  return (dialect) =>
    raw(
      dialect === 'postgres' ? `${live}.listed_as = 'pending' and not ${live}.claimed` : `${live}.status = 'pending'`,
    );
}

/** True if an unfinished job that is no group runs. */
export function isRunning(live: string): Spelling {
  return (dialect) => raw(dialect === 'postgres' ? `${live}.claimed` : `${live}.status = 'running'`);
}

/**
 * True if this row of `run` ended its job. On PostgreSQL, `coalesce` stops the planner from using the index run_not_done, where the
 * job's id comes second: it would choose that index while the table is small and keep it in cached plans.
 */
export function isFinal(run: string): Spelling {
  return (dialect) => raw(dialect === 'postgres' ? `coalesce(${run}.status, '') <> ''` : `${run}.status is not null`);
}

/**
 * `from` the jobs `l` that workers hold whose ids are as asked. PostgreSQL finds them by the claims `c` of the workers; a job that was
 * claimed again is in two. `offset 0`: by the id of each job, instead of reading all live rows.
 */
export function fromHeld(isAsked: Part): Spelling {
  return (dialect) =>
    dialect === 'postgres'
      ? sql`from claim c cross join lateral unnest(c.job_ids) i(id)
        join lateral (select * from live where job_id = i.id offset 0) l on l.claimed and l.worker_id = c.worker_id
          and c.worker_id ${isAsked}`
      : sql`from live l where l.status = 'running' and l.worker_id ${isAsked}`;
}

/** At the end of a subquery: PostgreSQL looks up its rows one by one, instead of reading all of a table once. */
export const lookedUp = locking('offset 0');

/** True if the failure of job `j` counts as a success. */
export const continues = spelled({
  sqlite: raw(`j.spec ->> 'continue_on_failure' is 1`),
  postgres: raw(`coalesce((j.spec -> 'continue_on_failure')::boolean, false)`),
});

/** A counter of a live or final row. PostgreSQL has null for 0, which takes no room. */
export function counter(value: string): Spelling {
  return (dialect) => raw(dialect === 'postgres' ? `nullif(${value}, 0)` : value);
}
