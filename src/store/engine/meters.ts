/** Limits and rates: as they are listed and set, and the jobs that hold them and wait for them. */

import { keyOfMeter, limitName, type MeterUse, rateName } from '../../core/meter.ts';
import type { LimitState, RateState } from '../../core/meter-state.ts';
import { columns } from '../sql/columns.ts';
import { after, type Fragment, now, sql } from '../sql/sql.ts';
import { many, one, type Stages, staged, type Tx } from '../sql/tx.ts';
import { readUses, runningOf, runs } from './meter-use.ts';
import { openParkings } from './parkings.ts';
import { isPending } from './standing.ts';

const limit = columns<LimitState>({ key: 'text', max: 'int', running: 'bigint', waiting: 'bigint' });
const rate = columns<RateState>({ key: 'text', started: 'bigint', opensAt: 'instant', waiting: 'bigint' });
const countRow = columns<{ count: number }>({ count: 'bigint' });
const jobRow = columns<{ jobId: number }>({ jobId: 'bigint' });

/** The number of jobs that wait for meter `n`. */
const waiting = sql`(select cast(coalesce(sum((
  select count(*) from live l where l.lane = -p.id and ${isPending('l')})), 0) as bigint)
  from parking p where p.meter = n.name)`;

async function meterUse(tx: Tx, names: readonly string[]): Promise<MeterUse[]> {
  return names.map((await readUses(tx, names)).useOf);
}

/** All limits, or the one of this key. */
async function limits(tx: Tx, key?: string): Promise<LimitState[]> {
  const rows = await tx.all(
    limit,
    sql`select name as key, max, running, waiting from (
        select n.name, (select m.max from meter m where m.name = n.name) as max, ${runningOf('n.name')} as running,
          ${waiting} as waiting
        from (select name from meter where max is not null union select s.name from metered_start s where ${runs}
          union select meter from parking) n
        where n.name like 'limit:%' and ${isAsked(key === undefined ? undefined : limitName(key))}) n
      where max is not null or running > 0 or waiting > 0 order by name`,
  );
  return rows.map((row) => ({ ...row, key: keyOfMeter(row.key) }));
}

function isAsked(name: string | undefined): Fragment {
  return name === undefined ? sql`true` : sql`n.name = ${name}`;
}

async function setLimit(tx: Tx, key: string, max: number | null): Promise<LimitState> {
  await tx.run(sql`insert into meter (name, max) values (${limitName(key)}, ${max})
    on conflict (name) do update set max = excluded.max`);
  await openParkings(tx, [limitName(key)]);
  tx.effects.madeRoom();
  const [state] = await limits(tx, key);
  return state ?? { key, max, running: 0, waiting: 0 };
}

/** All rates, or the one of this key. */
async function rates(tx: Tx, key?: string): Promise<RateState[]> {
  const rows = await tx.all(
    rate,
    sql`select name as key, started, opens_at, waiting from (
        select n.name, case when m.opens_at > ${now} then m.opens_at end as opens_at, (
            select count(*) from metered_start s where s.name = n.name
              and s.at > ${after(now, sql`-coalesce(m.window_ms, 0)`)}) as started, ${waiting} as waiting
        from (select name from meter union select meter from parking) n left join meter m on m.name = n.name
        where n.name like 'rate:%' and ${isAsked(key === undefined ? undefined : rateName(key))}) n
      where opens_at is not null or started > 0 or waiting > 0 order by name`,
  );
  return rows.map((row) => ({ ...row, key: keyOfMeter(row.key) }));
}

async function closeRate({ tx }: Stages, key: string, ms: number): Promise<RateState> {
  await tx.run(sql`insert into meter (name, opens_at) values (${rateName(key)}, ${after(now, Math.round(ms))})
    on conflict (name) do update set opens_at = case
      when meter.opens_at > excluded.opens_at then meter.opens_at else excluded.opens_at end`);
  const [state] = await rates(tx, key);
  return state ?? { key, started: 0, opensAt: null, waiting: 0 };
}

async function holders(tx: Tx, key: string, atMost: number): Promise<number[]> {
  const rows = await tx.all(
    jobRow,
    sql`select s.job_id from metered_start s where s.name = ${limitName(key)} and ${runs}
      order by s.job_id limit ${atMost}`,
  );
  return rows.map(({ jobId }) => jobId);
}

async function countAheadAt(tx: Tx, name: string, jobId: number, atMost: number): Promise<number> {
  const ahead = sql`select 1 from live l where l.lane = -p.id and ${isPending('l')}
    and (l.rank, l.turn, l.due, l.job_id) < (me.rank, me.turn, me.due, me.job_id) limit ${atMost}`;
  const counted = await tx.get(
    countRow,
    sql`select cast(coalesce(sum((select count(*) from (${ahead}) a)), 0) as bigint) as count
      from live me cross join parking p where me.job_id = ${jobId} and ${isPending('me')} and p.meter = ${name} and not p.skips`,
  );
  return Math.min(counted?.count ?? 0, atMost);
}

export const meterMethods = {
  meterUse: one('urgent', meterUse),
  limits: one('read', (tx: Tx) => limits(tx)),
  setLimit: many('write', setLimit),
  rates: one('read', (tx: Tx) => rates(tx)),
  closeRate: staged('write', closeRate),
  holders: one('read', holders),
  countAheadAt: one('read', countAheadAt),
};
