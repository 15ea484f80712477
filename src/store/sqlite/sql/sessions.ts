/** Sessions of the dashboard. */

import type { Twins } from '../../statements.ts';

export const sessionsSql = {
  insertSession: `insert into session (hash, kind, caller, request, created_at, seen_at, expires_at)
    values (?1, ?2, ?3, ?4, ?5, ?5, ?6)`,
  useSession: `update session set seen_at = iif(seen_at + ?4 <= ?2, ?2, seen_at)
    where hash = ?1 and kind = 'session' and expires_at > ?2 and seen_at + ?3 > ?2 returning *`,
  takeSession: 'delete from session where hash = ?1 and kind = ?2 and expires_at > ?3 returning *',
  pruneSessions: `delete from session where expires_at <= ?1 or (kind = 'session' and seen_at + ?2 <= ?1)`,
} satisfies Twins<'sessions'>;
