/** Unique keys and idempotency keys. */

import { FLAG } from '../../flags.ts';
export const keysSql = {
  /** A job with steps has started: it is not replaced while it waits. */
  keyHolders: `select u.job_id, iif(l.flags & ${FLAG.hasSteps}, 'running', l.status) as status, j.created_at, j.queue, (
      select a.job_id from live a where a.job_id = j.spec ->> '$.unique_after') as after from unique_key u left join live l on l.job_id = u.job_id
      left join job j on j.id = u.job_id
    where u.key = ? and (u.expires_at is null or u.expires_at > ?)`,
  /** An expired key may still have a row. */
  giveKeys: 'insert or replace into unique_key (key, job_id, hold, expires_at) values (?, ?, ?, ?)',
  idempotentAnswer: 'select fingerprint, answer from idempotency where key = ?1 and created_at > ?2',
  endIdempotent: 'insert or replace into idempotency (key, fingerprint, answer, created_at) values (?, ?, ?, ?)',

  // SQLite only: part of the claim and of the retry in PostgreSQL.
  freeKeys: `delete from unique_key where job_id in (select value from json_each(?)) and hold <> 'time'`,
  freePendingKeys: `delete from unique_key where job_id in (select value from json_each(?)) and hold = 'pending'`,
};
