/** The columns of a session, as both databases have them. */

import type { Session, SessionKind } from '../core/session.ts';

export interface SessionColumns {
  hash: string;
  kind: SessionKind;
  caller: string;
  request: string | null;
  created_at: number;
  seen_at: number;
  expires_at: number;
}

export function sessionFrom(row: SessionColumns): Session {
  const { hash, kind, caller, request } = row;
  return { hash, kind, caller, request, createdAt: row.created_at, seenAt: row.seen_at, expiresAt: row.expires_at };
}
