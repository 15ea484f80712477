/** How many jobs claims start before another one. */

import { countStarting, type MeteredJob, rivalsOf } from '../../core/ahead.ts';
import { laneFromKey } from '../../core/lane.ts';
import { metersOf } from '../../core/meter.ts';
import { columns } from '../sql/columns.ts';
import { anyOf, eachOf, now, raw, type Spelling, spelled, sql } from '../sql/sql.ts';
import { many, type Tx } from '../sql/tx.ts';
import { readUses } from './meter-use.ts';
import { isPending } from './standing.ts';
import { workers } from './workers.ts';

const laneRow = columns<{ id: number; key: string; own: boolean }>({ id: 'int', key: 'text', own: 'bool' });
const countRow = columns<{ count: number }>({ count: 'bigint' });
const meteredRow = columns<{ [K in keyof MeteredJob]: MeteredJob[K] | null }>({ limits: 'json', rates: 'json' });

const order = raw('l.rank, l.turn, l.due, l.job_id');
/** True if a job `l` of lane `u` is claimed before `me`. */
const isAhead = sql`l.lane = u.lane and ${isPending('l')} and (${order}) < (me.rank, me.turn, me.due, me.job_id)`;

interface Before {
  jobId: number;
  lanes: readonly number[];
  atMost: number;
}

async function countAhead(tx: Tx, jobId: number, atMost: number): Promise<number> {
  const rows = await tx.all(
    laneRow,
    sql`select n.id, n.key, n.id = o.id as own
      from live l left join parking p on p.id = -l.lane join lane o on o.id = coalesce(p.lane, l.lane)
        join lane n on n.queue = o.queue
      where l.job_id = ${jobId} and ${isPending('l')}`,
  );
  const lanes = rows.map(({ id, key, own }) => ({ id, own, lane: laneFromKey(key) }));
  const own = lanes.find((one) => one.own);
  if (own === undefined) return 0;
  const isRival = rivalsOf(own.lane, await workers(tx));
  const rivals = lanes.filter(({ lane }) => isRival(lane));
  const before = (metered: boolean): Before => ({
    jobId,
    lanes: rivals.filter(({ lane }) => lane.metered === metered).map(({ id }) => id),
    atMost,
  });
  return Math.min((await countBefore(tx, before(false))) + (await startingBefore(tx, before(true))), atMost);
}

async function countBefore(tx: Tx, { jobId, lanes, atMost }: Before): Promise<number> {
  const counted = await tx.get(
    countRow,
    sql`select cast(coalesce(sum((select count(*) from (select 1 from live l where ${isAhead} limit ${atMost}) a)), 0) as bigint) as count
      from live me cross join (select i.value as lane from ${eachOf(lanes)}) u
      where me.job_id = ${jobId} and ${isPending('me')}`,
  );
  return counted?.count ?? 0;
}

/** How many jobs of these lanes with meters can start before. Those that wait for a full one cannot. */
async function startingBefore(tx: Tx, { jobId, lanes, atMost }: Before): Promise<number> {
  const ahead: Spelling = spelled({
    postgres: sql`cross join lateral (select ${order} from live l where ${isAhead} order by ${order} limit ${atMost}) l`,
    sqlite: sql`cross join live l on ${isAhead}`,
  });
  const rows = await tx.all(
    meteredRow,
    sql`select j.spec -> 'limits' as limits, j.spec -> 'rates' as rates
      from live me cross join (
        select i.value as lane from ${eachOf(lanes)} union all
        select -p.id from parking p where p.lane ${anyOf(lanes)} and p.opens_at <= ${now} and not p.skips) u
      ${ahead} join job j on j.id = l.job_id
      where me.job_id = ${jobId} and ${isPending('me')} order by ${order} limit ${atMost}`,
  );
  if (rows.length === 0) return 0;
  const jobs = rows.map(({ limits, rates }) => ({ limits: limits ?? [], rates: rates ?? [] }));
  const names = [...new Set(jobs.flatMap((job) => metersOf(job).map(({ name }) => name)))];
  const { useOf, now: instant } = await readUses(tx, names);
  return countStarting(jobs, useOf, instant);
}

export const aheadMethods = { countAhead: many('read', countAhead) };
