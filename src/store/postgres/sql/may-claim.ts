/** Conditions under which jobs may be claimed. */

/** True if jobs of a lane may be claimed now. `limited`: a queue with `max_running` or a rate counts as closed. */
export function isOpenIn(s: string) {
  return (lane: string, limited: string) => `not exists (
      select 1 from ${s}.lane n join ${s}.queue q on q.name = n.queue
      where n.id = ${lane} and (q.paused_at is not null or (${limited} and coalesce(q.max_running::text, q.rate::text) is not null)))`;
}

/** True if a worker is online and its lease is not over. Read once per statement, whatever the number of jobs. */
export function mayClaimIn(s: string) {
  return (worker: string, now: string) => `exists (select 1 from ${s}.worker w where w.id = ${worker}
      and w.state = 'online' and w.seen_at + w.lease_ms * interval '1 ms' >= ${now})`;
}

/** True if a member of a gang waits in a place `p` for which the condition is true. */
export function hasPlaceIn(s: string) {
  return (where: string) => `exists (select 1 from ${s}.place p where not p.started and ${where})`;
}
