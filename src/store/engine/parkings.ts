/** Parkings: jobs that wait for a full limit or rate, and what lets claims look at them again. */

import type { Job } from '../../core/job.ts';
import { fullMeter, limitOfParking } from '../../core/meter.ts';
import type { Healed, HealRequest } from '../duty-store.ts';
import { columns } from '../sql/columns.ts';
import { anyFrom, anyOf, locking, now, raw, spelled, sql } from '../sql/sql.ts';
import { type Done, inTurn, many, type Tx } from '../sql/tx.ts';
import { lockMeters, readUses } from './meter-use.ts';
import { readJobs } from './reads.ts';
import { isPending, lookedUp } from './standing.ts';

interface Parking {
  id: number;
  meter: string;
  rule: string;
}

const parking = columns<Parking>({ id: 'bigint', meter: 'text', rule: 'text' });
const looked = parking.with<Parking & { closed: boolean }>({ closed: 'bool' });
interface Opening {
  at: number | null;
  now: number;
}

const openingRow = columns<Opening>({ at: 'instant', now: 'instant' });
const jobRow = columns<{ jobId: number }>({ jobId: 'bigint' });
const openedRow = columns<{ meter: string; adopts: boolean }>({ meter: 'text', adopts: 'bool' });

/** `parking.opens_at` of one that claims look at. */
export const NOW_OPEN = spelled({ sqlite: raw('0'), postgres: raw(`'-infinity'`) });
/** `parking.opens_at` until a running job ends. */
const NEVER_OPENS = spelled({ sqlite: raw(`${Number.MAX_SAFE_INTEGER}`), postgres: raw(`'infinity'`) });

/** Lets claims look at the jobs that wait for meters. Returns the number of parkings. */
export function openParkings(tx: Tx, meters: readonly string[]): Promise<number> {
  return tx.run(sql`update parking set opens_at = ${NOW_OPEN} where meter ${anyOf(meters, 'text')}`);
}

/** When the next rate allows a start, which may be past. */
export async function nextOpening(tx: Tx): Promise<Opening> {
  const next = await tx.get(
    openingRow,
    sql`select min(p.opens_at) as at, ${now} as now from parking p
      where p.opens_at > ${NOW_OPEN} and p.opens_at < ${NEVER_OPENS}
        and exists (select 1 from live l where l.lane = -p.id and ${isPending('l')} ${lookedUp})`,
  );
  return next as Opening;
}

/** Lets claims look at the jobs whose rates allow a start again. Returns whether there are some. */
export async function openDueParkings(tx: Tx): Promise<boolean> {
  const due = sql`select id from parking where opens_at <= ${now} and opens_at > ${NOW_OPEN}
    order by id ${locking('for update skip locked')}`;
  return (await tx.run(sql`update parking set opens_at = ${NOW_OPEN} where id ${anyFrom(due)}`)) > 0;
}

/** Looked up by their parkings: in the order of ids, PostgreSQL would read all pending jobs, even where nothing is parked. */
async function findSkippable(tx: Tx, limit: number): Promise<Job[]> {
  const rows = await tx.all(
    jobRow,
    sql`select l.job_id from live l
      where l.lane ${anyFrom(sql`select -p.id from parking p where p.skips`)} and ${isPending('l')} limit ${limit}`,
  );
  return rows.length === 0
    ? []
    : readJobs(
        tx,
        rows.map(({ jobId }) => jobId).sort((a, b) => a - b),
      );
}

type Closed = { parkings: Parking[]; next: number | null };

/** The end of a job opens parkings in its own transaction: so there is something to find only if an event was lost. */
async function findClosed(tx: Tx, { after, limit }: HealRequest): Promise<Closed | Done<Healed>> {
  const rows = await tx.all(
    looked,
    sql`select ${parking}, opens_at = ${NEVER_OPENS} and not skips as closed
      from parking where id > ${after} order by id limit ${limit}`,
  );
  const next = rows.length === limit ? (rows.at(-1)?.id ?? null) : null;
  const parkings = await withRoom(
    tx,
    rows.filter(({ closed }) => closed),
  );
  return parkings.length === 0 ? { answer: { meters: [], next } } : { parkings, next };
}

/** The ends of some attempts are not adopted yet: they open their parkings then, and nothing was lost. */
async function openClosed(tx: Tx, _request: HealRequest, { parkings, next }: Closed): Promise<Healed> {
  await lockMeters(tx, new Map(parkings.map(({ meter }) => [meter, 0])));
  const ids = (await withRoom(tx, parkings)).map(({ id }) => id);
  const opened = await tx.all(
    openedRow,
    sql`update parking set opens_at = ${NOW_OPEN} where id ${anyOf(ids)} and opens_at = ${NEVER_OPENS}
      returning meter, exists (
        select 1 from metered_start s join intake i on i.job_id = s.job_id where s.name = parking.meter) as adopts`,
  );
  if (opened.length > 0) tx.effects.madeRoom();
  return { meters: opened.flatMap(({ meter, adopts }) => (adopts ? [] : [meter])), next };
}

/** Those whose limit lets a job start now. */
async function withRoom(tx: Tx, parkings: readonly Parking[]): Promise<Parking[]> {
  if (parkings.length === 0) return [];
  const { useOf, now } = await readUses(tx, [...new Set(parkings.map(({ meter }) => meter))]);
  return parkings.filter(({ meter, rule }) => !fullMeter([limitOfParking(meter, rule)], useOf, now));
}

export const parkingMethods = {
  findSkippable: many('urgent', findSkippable),
  healParkings: inTurn(many('read', findClosed), many('write', openClosed)),
};
