import { type NewSession, SEEN_EVERY_MS, type Session, type SessionKind } from '../../../core/session.ts';
import type { Tables } from '../base/tables.ts';

export function createSession(tables: Tables, { lifeMs, ...session }: NewSession): void {
  const now = tables.clock.now();
  tables.sessions.set(session.hash, { ...session, createdAt: now, seenAt: now, expiresAt: now + lifeMs });
}

export function useSession(tables: Tables, hash: string, idleMs: number): Session | undefined {
  const now = tables.clock.now();
  const session = tables.sessions.get(hash);
  if (session?.kind !== 'session' || isOver(session, idleMs, now)) return undefined;
  if (session.seenAt + SEEN_EVERY_MS <= now) session.seenAt = now;
  return { ...session };
}

export function takeSession(tables: Tables, hash: string, kind: SessionKind): Session | undefined {
  const session = tables.sessions.get(hash);
  if (session?.kind !== kind || session.expiresAt <= tables.clock.now()) return undefined;
  tables.sessions.delete(hash);
  return session;
}

export function pruneSessions(tables: Tables, idleMs: number): number {
  const over = [...tables.sessions.values()].filter((session) => isOver(session, idleMs, tables.clock.now()));
  for (const { hash } of over) tables.sessions.delete(hash);
  return over.length;
}

function isOver({ kind, seenAt, expiresAt }: Session, idleMs: number, now: number): boolean {
  return expiresAt <= now || (kind === 'session' && seenAt + idleMs <= now);
}
