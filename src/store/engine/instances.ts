/** Processes that are connected to the store. */

import { type InstanceRow, MISSED_BEATS, type NewInstance } from '../../core/instance.ts';
import { columns } from '../sql/columns.ts';
import { after, now, sql } from '../sql/sql.ts';
import { one, type Tx } from '../sql/tx.ts';

const instance = columns<Omit<InstanceRow, 'state'>>({
  id: 'text',
  host: 'text',
  pid: 'int',
  roles: 'json',
  version: 'text',
  url: 'text',
  beatMs: 'int',
  startedAt: 'instant',
  seenAt: 'instant',
});
const withState = instance.with<InstanceRow>({ state: 'text' });

async function beatInstance(tx: Tx, beating: NewInstance): Promise<void> {
  await tx.run(sql`insert into instance ${instance.values({ ...beating, startedAt: now, seenAt: now })}
    on conflict (id) do update set host = excluded.host, pid = excluded.pid, roles = excluded.roles,
      version = excluded.version, url = excluded.url, beat_ms = excluded.beat_ms, seen_at = excluded.seen_at`);
}

function instances(tx: Tx): Promise<InstanceRow[]> {
  const isSilent = sql`${after(sql`seen_at`, sql`${MISSED_BEATS} * beat_ms`)} < ${now}`;
  return tx.all(
    withState,
    sql`select ${instance}, case when ${isSilent} then 'offline' else 'online' end as state
    from instance order by started_at, id`,
  );
}

async function leaveInstance(tx: Tx, id: string): Promise<void> {
  await tx.run(sql`delete from instance where id = ${id}`);
}

function forgetInstances(tx: Tx, silentMs: number): Promise<number> {
  return tx.run(sql`delete from instance where seen_at < ${after(now, -silentMs)}`);
}

export const registry = {
  beatInstance: one('write', beatInstance),
  instances: one('read', instances),
  leaveInstance: one('write', leaveInstance),
  forgetInstances: one('write', forgetInstances),
};
