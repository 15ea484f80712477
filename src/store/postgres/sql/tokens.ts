/** Tokens of the API. */

import type { Twins } from '../../statements.ts';
import { instant, nowIn } from './instants.ts';

export function tokensSql(s: string) {
  const now = nowIn(s);

  return {
    tokens: `select * from ${s}.token order by name collate "C", id desc`,
    validTokens: `with ${now}
      select k.* from ${s}.token k, t where k.revoked_at is null and (k.expires_at is null or k.expires_at > t.now)
      order by k.name collate "C", k.id desc`,
    currentToken: `with ${now}
      select k.*, t.now from ${s}.token k, t where k.name = $1 and k.replaced_at is null and k.revoked_at is null
        and (k.expires_at is null or k.expires_at > t.now)`,
    retireToken: `with ${now}
      update ${s}.token k set revoked_at = k.expires_at from t
      where k.name = $1 and k.replaced_at is null and k.revoked_at is null and k.expires_at <= t.now`,
    insertToken: `with ${now}
      insert into ${s}.token (name, role, queues, hash, created_at, created_by, expires_at)
      select $1, $2, $3::text[], $4, t.now, $5, ${instant(`(round(date_part('epoch', t.now) * 1000) + $6::float8)`)} from t
      on conflict (name) where replaced_at is null and revoked_at is null do nothing
      returning *`,
    replaceToken: `with ${now}
      update ${s}.token k set replaced_at = t.now,
        expires_at = least(k.expires_at, t.now + $2::float8 * interval '1 millisecond')
      from t where k.id = $1`,
    revokeTokens: `with ${now}
      update ${s}.token k set revoked_at = t.now from t
      where k.name = $1 and k.revoked_at is null and (k.expires_at is null or k.expires_at > t.now) and k.id <> $2
      returning k.id`,
    touchTokens: `with ${now}
      update ${s}.token k set last_used_at = t.now from t where k.id = any($1::integer[])`,
    pruneTokens: `with ${now}
      delete from ${s}.token k using t
      where least(k.revoked_at, k.expires_at) <= t.now - $1::float8 * interval '1 millisecond' returning k.id`,

    // PostgreSQL only: tokens are changed one by one. Reads go on.
    lockTokens: `lock table ${s}.token in share row exclusive mode`,
  } satisfies Twins<'tokens'>;
}
