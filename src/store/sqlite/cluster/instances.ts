import { type InstanceRow, MISSED_BEATS, type NewInstance } from '../../../core/instance.ts';
import type { Context } from '../base/context.ts';
import { sql } from '../base/sql.ts';

interface StoredInstance {
  id: string;
  host: string;
  pid: number;
  roles: string;
  version: string;
  url: string | null;
  beat_ms: number;
  started_at: number;
  seen_at: number;
}

export function beatInstance({ database, now }: Context, instance: NewInstance): void {
  const { id, host, pid, roles, version, url, beatMs } = instance;
  database.run(sql.beatInstance, id, host, pid, JSON.stringify(roles), version, url, beatMs, now);
}

export function instances({ database, now }: Context): InstanceRow[] {
  return database.all<StoredInstance>(sql.instances).map((row) => ({
    id: row.id,
    host: row.host,
    pid: row.pid,
    roles: JSON.parse(row.roles) as string[],
    version: row.version,
    url: row.url,
    beatMs: row.beat_ms,
    startedAt: row.started_at,
    seenAt: row.seen_at,
    state: now - row.seen_at > MISSED_BEATS * row.beat_ms ? 'offline' : 'online',
  }));
}

export function leaveInstance({ database }: Context, id: string): void {
  database.run(sql.leaveInstance, id);
}

export function forgetInstances({ database, now }: Context, silentMs: number): number {
  return database.run(sql.forgetInstances, now - silentMs);
}
