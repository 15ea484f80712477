/** The checks of a PostgreSQL database. */

import pg from 'pg';
import { countText } from '../../api/count-text.ts';
import { messageOf } from '../../core/error.ts';
import type { WorkerRow } from '../../core/worker.ts';
import { connectionSettings } from '../../store/postgres/base/database.ts';
import { MIGRATIONS } from '../../store/postgres/base/migrations.ts';
import { bad, type Finding, ok, warning } from './finding.ts';
import { examineServed, SILENT_LEASES, type WaitingLane } from './served.ts';

const CLOCK_MS = 1_000;
const LONG_SECONDS = 300;
const OLD_TRANSACTIONS = 1_000_000;
/** Dead rows beside live ones, in the one table that changes all the time. */
const DEAD_SHARE = 5;

export async function examinePostgres(url: string, schema: string): Promise<Finding[]> {
  const client = new pg.Client({ ...connectionSettings, connectionString: url });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const findings = [await server(client), await clock(client), await pooler(client), await installed(client, schema)];
    if (findings.at(-1)?.state === 'bad') return findings;
    return [
      ...findings,
      ...(await transactions(client)),
      await bloat(client, schema),
      ...(await served(client, schema)),
    ];
  } catch (error) {
    return [bad('store', messageOf(error), 'check --db-url, the network, and the rights of the user')];
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function server(client: pg.Client): Promise<Finding> {
  const { rows } = await client.query<{ number: number; text: string }>(
    `select current_setting('server_version_num')::integer as number, current_setting('server_version') as text`,
  );
  const { number = 0, text = '' } = rows[0] ?? {};
  if (number >= 150_000) return ok('server', `PostgreSQL ${text}`);
  return bad('server', `PostgreSQL ${text}`, 'use 15 or newer');
}

async function clock(client: pg.Client): Promise<Finding> {
  const start = performance.now();
  const sentAt = Date.now();
  const { rows } = await client.query<{ now: string }>(
    `select round(extract(epoch from clock_timestamp()) * 1000)::text as now`,
  );
  const differenceMs = Math.round(Number(rows[0]?.now) - sentAt - (performance.now() - start) / 2);
  const side = differenceMs < 0 ? 'behind' : 'ahead of';
  const detail = `the database's clock is ${Math.abs(differenceMs)} ms ${side} this machine's`;
  if (Math.abs(differenceMs) < CLOCK_MS) return ok('clock', detail);
  return warning(
    'clock',
    detail,
    'jobs follow the database; let both machines use NTP, or times in logs will not agree',
  );
}

/** Behind a transaction pooler, a setting of the session is gone with the next transaction, or another one sees it. */
async function pooler(client: pg.Client): Promise<Finding> {
  const pids = new Set<number>();
  for (let round = 0; round < 5; round += 1) {
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    pids.add(rows[0]?.pid ?? 0);
  }
  if (pids.size === 1) return ok('pooler', 'one connection is one session');
  return warning(
    'pooler',
    'a transaction pooler is in between',
    'set --db-direct-url for locks, LISTEN and migrations',
  );
}

async function installed(client: pg.Client, schema: string): Promise<Finding> {
  const { rows: found } = await client.query<{ there: boolean }>('select to_regclass($1) is not null as there', [
    `"${schema}".meta`,
  ]);
  if (found[0]?.there !== true)
    return bad('schema', `schema ${schema} is not there`, 'run `workron migrate`, or start Workron');
  const { rows } = await client.query<{ version: number }>(`select schema_version as version from "${schema}".meta`);
  const [version, newest] = [rows[0]?.version ?? 0, MIGRATIONS.at(-1)?.version ?? 0];
  if (version >= newest) return ok('schema', `${schema}, version ${version}`);
  return bad('schema', `${schema} is at version ${version}, this code has ${newest}`, 'run `workron migrate`');
}

async function transactions(client: pg.Client): Promise<Finding[]> {
  const { rows } = await client.query<{ pid: number; seconds: number; state: string; age: number }>(
    `select pid, extract(epoch from clock_timestamp() - xact_start)::float8 as seconds, coalesce(state, '') as state,
       coalesce(age(backend_xmin), 0)::integer as age
     from pg_stat_activity where datname = current_database() and xact_start is not null and pid <> pg_backend_pid()
     order by xact_start limit 1`,
  );
  const [oldest] = rows;
  const { rows: horizon } = await client.query<{ age: number }>(
    `select coalesce(max(age(backend_xmin)), 0)::integer as age from pg_stat_activity where backend_xmin is not null`,
  );
  const age = horizon[0]?.age ?? 0;
  return [
    oldest === undefined || oldest.seconds < LONG_SECONDS
      ? ok('long transactions', 'none')
      : warning(
          'long transactions',
          `process ${oldest.pid} has one open for ${Math.round(oldest.seconds)} s (${oldest.state})`,
          'end it: until then no dead row is removed, and claims get slower',
        ),
    age < OLD_TRANSACTIONS
      ? ok('vacuum horizon', `${age} transactions old`)
      : warning(
          'vacuum horizon',
          `${age} transactions old`,
          'end old transactions, replication slots and prepared transactions',
        ),
  ];
}

async function bloat(client: pg.Client, schema: string): Promise<Finding> {
  const { rows } = await client.query<{ live: number; dead: number }>(
    `select n_live_tup::float8 as live, n_dead_tup::float8 as dead from pg_stat_user_tables
     where schemaname = $1 and relname = 'live'`,
    [schema],
  );
  const { live = 0, dead = 0 } = rows[0] ?? {};
  const detail = `table live: ${countText(live, 'row')}, ${dead} dead`;
  if (dead < 100_000 || dead < live * DEAD_SHARE) return ok('bloat', detail);
  return warning('bloat', detail, `vacuum ${schema}.live; check that autovacuum is on`);
}

async function served(client: pg.Client, schema: string): Promise<Finding[]> {
  const { rows: lanes } = await client.query<WaitingLane>(
    `select n.key, count(*)::integer as jobs from "${schema}".live l join "${schema}".lane n on n.id = l.lane
     where l.listed_as = 'pending' and not l.claimed group by n.key`,
  );
  const { rows: workers } = await client.query<{ profile: WorkerRow }>(
    `select profile from "${schema}".worker
     where state = 'online' and seen_at > "${schema}".now() - ${SILENT_LEASES} * lease_ms * interval '1 ms'`,
  );
  return examineServed(
    lanes,
    workers.map(({ profile }) => profile),
  );
}
