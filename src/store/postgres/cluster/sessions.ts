import { type NewSession, SEEN_EVERY_MS, type Session, type SessionKind } from '../../../core/session.ts';
import { type SessionColumns, sessionFrom } from '../../session-columns.ts';
import type { Context } from '../base/context.ts';

export async function createSession(
  { database, sql }: Context,
  { hash, kind, caller, request, lifeMs }: NewSession,
  signal: AbortSignal,
): Promise<void> {
  await database.query(sql.insertSession, [hash, kind, caller, request, lifeMs], signal);
}

export async function useSession(
  { database, sql }: Context,
  hash: string,
  idleMs: number,
  signal: AbortSignal,
): Promise<Session | undefined> {
  const [row] = await database.query<SessionColumns>(sql.useSession, [hash, idleMs, SEEN_EVERY_MS], signal);
  return row === undefined ? undefined : sessionFrom(row);
}

export async function takeSession(
  { database, sql }: Context,
  hash: string,
  kind: SessionKind,
  signal: AbortSignal,
): Promise<Session | undefined> {
  const [row] = await database.query<SessionColumns>(sql.takeSession, [hash, kind], signal);
  return row === undefined ? undefined : sessionFrom(row);
}

export async function pruneSessions({ database, sql }: Context, idleMs: number, signal: AbortSignal): Promise<number> {
  const rows = await database.transaction(signal, (session) => session.query(sql.pruneSessions, [idleMs]));
  return rows.length;
}
