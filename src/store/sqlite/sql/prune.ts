/** Retention. */

import type { Twins } from '../../statements.ts';

export const pruneSql = {
  pruneKeys: `delete from unique_key where key in (
    select key from unique_key where expires_at <= ?1 order by expires_at limit ?2)`,
  pruneIdempotency: `delete from idempotency where key in (
    select key from idempotency where created_at <= ?1 order by created_at limit ?2)`,
  pruneAlarms: `delete from alarm where subject in (
    select subject from alarm where raised_at < ?1 order by raised_at limit ?2)`,
  pruneStats: `delete from stat where (minute, queue, outcome, instance_id) in (
    select minute, queue, outcome, instance_id from stat where minute < ?1 order by minute limit ?2)`,
} satisfies Twins<'prune'>;
