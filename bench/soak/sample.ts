/** What the soak reads at intervals: rates, latency, sizes and memory. */

import { readdirSync, readFileSync } from 'node:fs';
import type pg from 'pg';

export interface Relation {
  bytes: number;
  /** Rows that are dead and not yet vacuumed; `null` for an index. */
  dead: number | null;
}

export interface Sample {
  /** Seconds since the start. */
  at: number;
  submitted: number;
  ended: number;
  /** Jobs that wait or run. */
  unfinished: number;
  /** Ended jobs that are not yet deleted, if none between them is. */
  kept: number;
  /** Milliseconds from submission to end of the jobs that ended since the last sample, by the clock of the database. */
  p50: number;
  p99: number;
  /** Tables (without their indexes) and indexes by name. */
  relations: Map<string, Relation>;
  /** Resident bytes by process. */
  memory: Map<string, number>;
}

interface Watched {
  client: pg.Client;
  /** Name → process id; memory of `postgres` is that of all its processes without what they share. */
  processes: ReadonlyMap<string, number>;
}

const RELATIONS = `select c.relname as name, c.relkind = 'r' as is_table,
    case when c.relkind = 'r' then pg_table_size(c.oid) else pg_relation_size(c.oid) end as bytes, s.n_dead_tup as dead
  from pg_class c join pg_namespace n on n.oid = c.relnamespace left join pg_stat_user_tables s on s.relid = c.oid
  where n.nspname = 'workron' and c.relkind in ('r', 'i')`;

const LATENCY = `select percentile_cont(array[0.5, 0.99]) within group (
    order by extract(epoch from r.ended_at - j.created_at) * 1000) as parts
  from workron.job j join workron.run r on r.job_id = j.id
  where j.id > $1 and r.status = 'done'`;

export async function sample(
  { client, processes }: Watched,
  { at, after }: { at: number; after: number },
): Promise<Sample> {
  const number = async (text: string) => Number((await client.query<{ n: string }>(text)).rows[0]?.n ?? 0);
  const submitted = await number('select coalesce(max(id), 0) as n from workron.job');
  const unfinished = await number('select count(*) as n from workron.live');
  const first = await number('select min(id) as n from workron.job');
  const latency = await client.query<{ parts: number[] | null }>(LATENCY, [after]);
  const found = await client.query<{ name: string; is_table: boolean; bytes: string; dead: string }>(RELATIONS);
  const [p50 = Number.NaN, p99 = Number.NaN] = latency.rows[0]?.parts ?? [];
  return {
    at,
    submitted,
    unfinished,
    kept: submitted - unfinished - first,
    ended: submitted - unfinished,
    p50,
    p99,
    relations: new Map(
      found.rows.map(({ name, is_table, bytes, dead }) => [
        name,
        { bytes: Number(bytes), dead: is_table ? Number(dead) : null },
      ]),
    ),
    memory: new Map([...processes].map(([name, pid]) => [name, residentOf(name, pid)])),
  };
}

function residentOf(name: string, pid: number): number {
  if (name !== 'postgres') return statusBytes(pid, 'VmRSS');
  return [pid, ...childrenOf(pid)].reduce((sum, each) => sum + statusBytes(each, 'RssAnon'), 0);
}

function statusBytes(pid: number, field: string): number {
  const text = readText(`/proc/${pid}/status`);
  return Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(text)?.[1] ?? 0) * 1_024;
}

function childrenOf(parent: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => parentOf(pid) === parent);
}

export function parentOf(pid: number): number {
  return Number(/^PPid:\s+(\d+)/m.exec(readText(`/proc/${pid}/status`))?.[1] ?? 0);
}

/** A process may end between the listing and the reading. */
function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
