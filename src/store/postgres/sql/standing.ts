/** Parts of statements that derive a job's state from other rows, as functions of the quoted schema. */

/** The status of an unfinished job. */
export function statusOf(live: string): string {
  return `case when ${live}.claimed then 'running' else ${live}.listed_as end`;
}

/** True if the job can be claimed. */
export function isPending(live: string): string {
  return `${live}.listed_as = 'pending' and not ${live}.claimed`;
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
