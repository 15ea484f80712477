import { type InstanceRow, MISSED_BEATS, type NewInstance } from '../../../core/instance.ts';
import type { Context } from '../base/context.ts';

interface Row {
  id: string;
  host: string;
  pid: number;
  roles: string[];
  version: string;
  url: string | null;
  beat_ms: number;
  started_at: number;
  seen_at: number;
  now: number;
}

export async function beatInstance(
  { database, sql }: Context,
  { id, host, pid, roles, version, url, beatMs }: NewInstance,
  signal: AbortSignal,
): Promise<void> {
  await database.query(sql.beatInstance, [id, host, pid, [...roles], version, url, beatMs], signal);
}

export async function instances({ database, sql }: Context, signal: AbortSignal): Promise<InstanceRow[]> {
  const rows = await database.query<Row>(sql.instances, [], signal);
  return rows.map((row) => ({
    id: row.id,
    host: row.host,
    pid: row.pid,
    roles: row.roles,
    version: row.version,
    url: row.url,
    beatMs: row.beat_ms,
    startedAt: row.started_at,
    seenAt: row.seen_at,
    state: row.now - row.seen_at > MISSED_BEATS * row.beat_ms ? 'offline' : 'online',
  }));
}

export async function leaveInstance({ database, sql }: Context, id: string, signal: AbortSignal): Promise<void> {
  await database.query(sql.leaveInstance, [id], signal);
}

export async function forgetInstances(
  { database, sql }: Context,
  silentMs: number,
  signal: AbortSignal,
): Promise<number> {
  const gone = await database.transaction(signal, (session) => session.query(sql.forgetInstances, [silentMs]));
  return gone.length;
}
