/** Unique keys and idempotency keys. */

import { nowIn } from './instants.ts';

/** Releases keys of the jobs in `jobs`. Locks them by name, see 'Lock order' in docs/architecture.md. */
export function freeKeysIn(s: string) {
  return (jobs: string, condition: string) => `freed as (
      delete from ${s}.unique_key k using (
        select u.key from ${jobs} g join ${s}.unique_key u on u.job_id = g.job_id
        where ${condition} order by u.key collate "C" for update of u) f
      where k.key = f.key)`;
}

export function keysSql(s: string) {
  const now = nowIn(s);

  return {
    keyHolders: `select k.key, k.job_id from ${s}.unique_key k
      where k.key = any($1::text[]) and (k.expires_at is null or k.expires_at > ${s}.now()) order by k.key collate "C"`,
    giveKeys: `with ${now}
      update ${s}.unique_key k set job_id = i.job_id, hold = i.hold, expires_at = t.now + i.hold_ms * interval '1 ms'
      from t, unnest($1::text[], $2::bigint[], $3::text[], $4::float8[]) i(key, job_id, hold, hold_ms)
      where k.key = i.key`,

    // PostgreSQL only: another transaction may be taking the same key.
    /** The unfinished jobs whose end the holders of keys wait for, because those held the key before. */
    keyAfters: `select j.id, l.job_id as after from ${s}.job j join ${s}.live l on l.job_id = (j.spec ->> 'unique_after')::bigint
      where j.id = any($1::bigint[]) and j.spec ? 'unique_after'`,
    holderQueues: `select id, queue from ${s}.job where id = any($1::bigint[])`,
    lockKeys: `select key, job_id from ${s}.unique_key where key = any($1::text[]) order by key collate "C" for update`,
    /**
     * Creates missing keys with job_id 0 and locks existing ones in one ordered pass; two passes could deadlock.
     */
    makeKeys: `insert into ${s}.unique_key as k (key, job_id, hold)
      select i.key, 0, 'pending' from unnest($1::text[]) i(key) order by i.key collate "C"
      on conflict (key) do update set key = excluded.key
      returning k.key, case when k.expires_at <= ${s}.now() then 0 else k.job_id end as job_id`,
  };
}
