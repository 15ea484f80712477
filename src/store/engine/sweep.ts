/** Deletes rows that nothing needs any more. Where no index finds them, they are looked for before, some in each call. */

import { UNKNOWN_WINDOW_MS } from '../../core/meter.ts';
import type { Retention, Sweepable } from '../duty-store.ts';
import { IDEMPOTENCY_MS } from '../job-store.ts';
import { columns } from '../sql/columns.ts';
import { after, anyFrom, anyOf, at, type Fragment, locking, now, raw, spelled, sql } from '../sql/sql.ts';
import { type Done, inTurn, one, type Stages, staged, type Tx } from '../sql/tx.ts';
import { lockMeters, runs } from './meter-use.ts';
import { NOW_OPEN, openParkings } from './parkings.ts';
import { lookedUp } from './standing.ts';

/** Starts that one call looks at. */
const WINDOW = 10_000;

/** What a call has found to delete: meters, those of starts, or gangs. */
interface Left {
  name: string;
  /** On PostgreSQL, the version of the row: who uses a meter writes it first. */
  version: string;
}

interface Start {
  name: string;
  at: number;
  jobId: number;
  attempt: number;
}

const FIRST_START: Start = { name: '', at: 0, jobId: 0, attempt: 0 };

const leftRow = columns<Left>({ name: 'text', version: 'text' });
const startRow = columns<Start>({ name: 'text', at: 'instant', jobId: 'bigint', attempt: 'int' });
const lookedStart = startRow.with<Start & { isLeft: boolean }>({ isLeft: 'bool' });
const lookedGang = columns<{ id: string; isLeft: boolean }>({ id: 'text', isLeft: 'bool' });
const nameRow = columns<{ name: string }>({ name: 'text' });

/** True of start `s` if no limit and no window counts it any more. */
const isLeftStart = sql`((s.name like 'limit:%' and not ${runs}) or (s.name not like 'limit:%' and s.at <= ${after(
  now,
  sql`-coalesce((select m.window_ms from meter m where m.name = s.name), ${raw(String(UNKNOWN_WINDOW_MS))})`,
)}))`;
const isUnused = sql`m.max is null and m.name not like 'queue:%' and coalesce(m.opens_at, ${NOW_OPEN}) <= ${now}
  and not exists (select 1 from metered_start s where s.name = m.name)
  and not exists (select 1 from parking p where p.meter = m.name)`;
const isLeftGang = sql`not exists (select 1 from job j where j.id = gang.job_id ${lookedUp})
  and not exists (select 1 from place p where p.gang_id = gang.id)`;
const version = spelled({ sqlite: raw(`''`), postgres: raw('m.xmin::text') });

async function findSwept(
  tx: Tx,
  what: Sweepable,
  _retention: Retention,
  limit: number,
): Promise<Left[] | Done<number>> {
  const finds = { metered_start: findStarts, meter: findMeters, gang: findGangs };
  if (!(what in finds)) return [];
  const found = await finds[what as keyof typeof finds](tx, limit);
  return found.length === 0 ? { answer: 0 } : found;
}

/** Goes on from call to call until it has been through all starts. */
async function findStarts(tx: Tx): Promise<Left[]> {
  const last = (tx.notes.get('metered_start') as Start | undefined) ?? FIRST_START;
  const rows = await tx.all(
    lookedStart,
    sql`select ${startRow}, ${isLeftStart} as is_left from (
      select * from metered_start where (name, at, job_id, attempt) > (${last.name}, ${at(last.at)}, ${last.jobId}, ${last.attempt})
      order by name, at, job_id, attempt limit ${WINDOW}) s`,
  );
  tx.notes.set('metered_start', rows.length === WINDOW ? rows.at(-1) : undefined);
  return [...new Set(rows.flatMap(({ name, isLeft }) => (isLeft ? [name] : [])))].map(named);
}

function findMeters(tx: Tx, limit: number): Promise<Left[]> {
  return tx.all(
    leftRow,
    sql`select m.name, ${version} as version from meter m where ${isUnused} order by m.name limit ${limit}`,
  );
}

/** Goes on from call to call until it has been through all gangs: most are kept. */
async function findGangs(tx: Tx, limit: number): Promise<Left[]> {
  const last = (tx.notes.get('gang') as string | undefined) ?? '';
  const rows = await tx.all(
    lookedGang,
    sql`select id, ${isLeftGang} as is_left from (
      select id, job_id from gang where id > ${last} order by id limit ${limit}) gang`,
  );
  tx.notes.set('gang', rows.length === limit ? rows.at(-1)?.id : undefined);
  return rows.filter(({ isLeft }) => isLeft).map(({ id }) => named(id));
}

function named(name: string): Left {
  return { name, version: '' };
}

/** What was found is looked at again, as it may be in use since. */
async function sweep(
  stages: Stages,
  what: Sweepable,
  retention: Retention,
  limit: number,
  found: readonly Left[],
): Promise<number> {
  const { tx } = stages;
  const names = found.map(({ name }) => name);
  switch (what) {
    case 'metered_start':
      return await stages.write((own) => deleteStarts(own, names));
    case 'meter':
      return await tx.run(sql`delete from meter as m where m.name ${anyOf(names, 'text')} and ${isUnused}
        and exists (select 1 from ${leftRow.input(found)} i where i.name = m.name and i.version = ${version})`);
    case 'gang':
      return await tx.run(sql`delete from gang where id ${anyOf(names, 'text')} and ${isLeftGang}`);
    default:
      return await tx.run(oldRows(what, retention, limit));
  }
}

/** An attempt that an application's transaction has ended leaves its starts until its end is adopted: jobs may wait for them. */
async function deleteStarts(tx: Tx, meters: readonly string[]): Promise<number> {
  await lockMeters(tx, new Map(meters.map((name) => [name, 0])));
  const gone = await tx.all(
    nameRow,
    sql`delete from metered_start as s where s.name ${anyOf(meters, 'text')} and ${isLeftStart} returning name`,
  );
  const limits = gone.map(({ name }) => name).filter((name) => name.startsWith('limit:'));
  if ((await openParkings(tx, limits)) > 0) tx.effects.madeRoom();
  return gone.length;
}

/** Deletes rows that an index finds, in the order of the index. */
function oldRows(
  what: Exclude<Sweepable, 'metered_start' | 'meter' | 'gang'>,
  { statsMs, otherMs }: Retention,
  limit: number,
): Fragment {
  const first = sql`limit ${limit} ${locking('for update skip locked')}`;
  switch (what) {
    case 'unique_key':
      return sql`delete from unique_key where key ${anyFrom(
        sql`select key from unique_key where expires_at <= ${now} order by expires_at ${first}`,
      )}`;
    case 'idempotency':
      return sql`delete from idempotency where key ${anyFrom(
        sql`select key from idempotency where created_at <= ${after(now, -IDEMPOTENCY_MS)} order by created_at ${first}`,
      )}`;
    case 'alarm':
      return sql`delete from alarm where subject ${anyFrom(
        sql`select subject from alarm where raised_at < ${after(now, -otherMs)} order by raised_at ${first}`,
      )}`;
    case 'stat': {
      const key = spelled({ sqlite: raw('minute, queue, outcome, instance_id'), postgres: raw('ctid') });
      return sql`delete from stat where (${key}) ${anyFrom(
        sql`select ${key} from stat where minute < ${after(now, -statsMs)} order by minute ${first}`,
      )}`;
    }
  }
}

export const sweepMethods = {
  sweep: inTurn(one('read', findSwept), staged('write', sweep)),
};
