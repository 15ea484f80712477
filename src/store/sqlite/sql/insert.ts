/** New jobs without parents, and jobs that replace a waiting one. */

import { FLAG } from '../../flags.ts';

/** Positions in a `NewJobRow`. Rows are tuples, which are cheap to write and to read as JSON. */
export const NEW_JOB = {
  queue: 0,
  kind: 1,
  name: 2,
  priority: 3,
  tags: 4,
  spec: 5,
  lane: 6,
  status: 7,
  dueAt: 8,
  expiresAt: 9,
  flags: 10,
} as const;

/** The field of a row that `json_each` reads. */
const at = (field: keyof typeof NEW_JOB) => `value ->> ${NEW_JOB[field]}`;

/** The flags that follow from the job's new fields when it is replaced. */
const REPLACED =
  FLAG.hasParents |
  FLAG.notifiesFailure |
  FLAG.notifiesSuccess |
  FLAG.notifiesCancel |
  FLAG.hasNoStartTimeout |
  FLAG.hasLimits;

export const insertSql = {
  /** ?1 the first id, ?2 now, ?3 `NewJobRow[]` as JSON. */
  insertJobs: `insert into job (id, queue, kind, name, priority, tags, created_at, spec)
    select ?1 + key, ${at('queue')}, ${at('kind')}, ${at('name')}, ${at('priority')}, ${at('tags')}, ?2, ${at('spec')}
    from json_each(?3)`,
  setRerunOf: 'update job set rerun_of = ?2 where id = ?1',
  /** The holder of a key becomes the new job; its id and its attempts stay. */
  replaceJob: 'update job set queue = ?2, kind = ?3, name = ?4, priority = ?5, tags = ?6, spec = ?7 where id = ?1',
  replaceLive: `update live set lane = ?2, rank = ?3, status = ?4, due = ?5, expires_at = ?6, turn = 0, fair_key = null,
      failures = 0, interruptions = 0, snoozes = 0, losses = 0, flags = (flags & ~${REPLACED}) | ?7,
      open_edges = ?8, held_edges = ?9, broken_edges = ?10, missed_edges = ?11
    where job_id = ?1`,

  // SQLite only: ids are counted here, and each table is written by its own statement.
  lastJobId: `select coalesce((select seq from sqlite_sequence where name = 'job'), 0) as id`,
  /** ?1 the first id, ?2 rows, ?3 the ids of the lanes that the rows point at, ?4 flags for all of them. */
  insertLive: `insert into live (job_id, lane, rank, status, due, expires_at, flags)
    select ?1 + key, ?3 ->> (${at('lane')}), -(${at('priority')}), ${at('status')}, ${at('dueAt')}, ${at('expiresAt')}, ?4 | (${at('flags')})
    from json_each(?2)`,
};
