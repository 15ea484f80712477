/** Tokens of the API. */

import type { Twins } from '../../statements.ts';

export const tokensSql = {
  tokens: 'select * from token order by name, id desc',
  validTokens: `select * from token where revoked_at is null and (expires_at is null or expires_at > ?1)
    order by name, id desc`,
  currentToken: `select * from token where name = ?1 and replaced_at is null and revoked_at is null
      and (expires_at is null or expires_at > ?2)`,
  retireToken: `update token set revoked_at = expires_at
    where name = ?1 and replaced_at is null and revoked_at is null and expires_at <= ?2`,
  insertToken: `insert into token (name, role, queues, hash, created_at, created_by, expires_at)
    values (?1, ?2, ?3, ?4, ?5, ?6, ?7) on conflict (name) where replaced_at is null and revoked_at is null do nothing
    returning *`,
  replaceToken: `update token set replaced_at = ?2, expires_at = min(coalesce(expires_at, ?3), ?3) where id = ?1`,
  revokeTokens: `update token set revoked_at = ?2
    where name = ?1 and revoked_at is null and (expires_at is null or expires_at > ?2) and id <> ?3`,
  touchTokens: 'update token set last_used_at = ?2 where id in (select value from json_each(?1))',
  pruneTokens: 'delete from token where min(coalesce(revoked_at, expires_at), coalesce(expires_at, revoked_at)) <= ?1',
} satisfies Twins<'tokens'>;
