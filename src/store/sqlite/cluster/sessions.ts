import { type NewSession, SEEN_EVERY_MS, type Session, type SessionKind } from '../../../core/session.ts';
import { type SessionColumns, sessionFrom } from '../../session-columns.ts';
import type { Context } from '../base/context.ts';
import { sql } from '../base/sql.ts';

export function createSession({ database, now }: Context, session: NewSession): void {
  const { hash, kind, caller, request, lifeMs } = session;
  database.run(sql.insertSession, hash, kind, caller, request, now, now + lifeMs);
}

export function useSession({ database, now }: Context, hash: string, idleMs: number): Session | undefined {
  const row = database.get<SessionColumns>(sql.useSession, hash, now, idleMs, SEEN_EVERY_MS);
  return row === undefined ? undefined : sessionFrom(row);
}

export function takeSession({ database, now }: Context, hash: string, kind: SessionKind): Session | undefined {
  const row = database.get<SessionColumns>(sql.takeSession, hash, kind, now);
  return row === undefined ? undefined : sessionFrom(row);
}

export function pruneSessions({ database, now }: Context, idleMs: number): number {
  return database.run(sql.pruneSessions, now, idleMs);
}
