/** New jobs that depend on nobody, and those that take the place of a waiting one. */

import { FLAG } from '../../flags.ts';
import type { Twins } from '../../statements.ts';

/** What a job is told to be anew when it is replaced. */
const REPLACED = FLAG.hasParents | FLAG.notifiesFailure | FLAG.notifiesSuccess | FLAG.hasNoStartTimeout;

export const insertSql = {
  /** ?1 the first id, ?2 now, ?3 rows as `encodeNewJob` writes them. */
  insertJobs: `insert into job (id, queue, kind, name, priority, tags, created_at, spec)
    select ?1 + key, value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, ?2, value ->> 5
    from json_each(?3)`,
  /** The holder of a key becomes what was asked for now; its id and its attempts stay. */
  replaceJob: 'update job set queue = ?2, kind = ?3, name = ?4, priority = ?5, tags = ?6, spec = ?7 where id = ?1',
  replaceLive: `update live set lane = ?2, rank = ?3, status = ?4, due = ?5, expires_at = ?6, turn = 0, fair_key = null,
      failures = 0, interruptions = 0, snoozes = 0, losses = 0, flags = (flags & ~${REPLACED}) | ?7,
      open_edges = ?8, held_edges = ?9, broken_edges = ?10, missed_edges = ?11
    where job_id = ?1`,

  // Only here: ids are counted here, and each table is written by itself.
  lastJobId: `select coalesce((select seq from sqlite_sequence where name = 'job'), 0) as id`,
  /** ?1 the first id, ?2 rows, ?3 the ids of the lanes that the rows point at, ?4 flags. */
  insertLive: `insert into live (job_id, lane, rank, status, due, expires_at, flags)
    select ?1 + key, ?3 ->> (value ->> 6), -(value ->> 3), value ->> 7, value ->> 8, value ->> 9, ?4 | (value ->> 10)
    from json_each(?2)`,
  /** Rows go on with flags and the counters of their edges. ?1 the first id, ?2 rows, ?3 the ids of the lanes. */
  insertDependentLive: `insert into live (job_id, lane, rank, status, due, expires_at, flags, open_edges, held_edges,
      broken_edges, missed_edges)
    select ?1 + key, ?3 ->> (value ->> 6), -(value ->> 3), value ->> 7, value ->> 8, value ->> 9, value ->> 10,
      value ->> 11, value ->> 12, value ->> 13, value ->> 14
    from json_each(?2)`,
} satisfies Twins<'insert'>;
