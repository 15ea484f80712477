/** Brings a schema to the version that this code needs. */

import { createHash } from 'node:crypto';
import pg from 'pg';
import { WorkronError } from '../../../core/error.ts';
import { OLDEST_SHARED_CODE, requireCode } from '../../code.ts';
import { type Migration, requireFoundation } from '../../migration.ts';
import { connectionSettings } from './database.ts';
import { MIGRATIONS } from './migrations.ts';
import { toStoreError } from './store-error.ts';

/** Longer than other statements get: another process may be migrating, and a migration may take minutes. */
const MIGRATION_TIMEOUT_MS = 600_000;

interface MigrateRequest {
  url: string;
  schema: string;
  /** Workron's own by default. */
  migrations?: readonly Migration[];
}

interface Migrated {
  from: number;
  to: number;
}

/** Applies the missing migrations, each in its own transaction. If several processes call this at once, one of them does it. */
export async function migrate(request: MigrateRequest): Promise<Migrated> {
  return await withClient(request, async (client) => {
    const { version, missing } = await missingOf(client, request);
    let from = version;
    let to = version;
    for (let [place, isLast] = [0, missing.length === 0]; !isLast; place += 1) {
      const applied = await applyNext(client, request);
      if (place === 0) from = applied.from;
      ({ to, isLast } = applied);
    }
    return { from, to };
  });
}

/**
 * Applies the first migration that is missing, if one still is. The lock belongs to the transaction: a lock of the session
 * would stay with the server's connection behind a transaction pooler, and block every later migration.
 */
async function applyNext(client: pg.Client, request: MigrateRequest): Promise<Migrated & { isLast: boolean }> {
  try {
    await client.query('begin');
    await client.query('select pg_advisory_xact_lock($1, $2)', lockOf(request.schema));
    const { version: from, missing } = await missingOf(client, request);
    const [next] = missing;
    const to = next === undefined ? from : await apply(client, request.schema, next);
    await client.query('commit');
    return { from, to, isLast: missing.length <= 1 };
  } catch (error) {
    await client.query('rollback').catch(() => undefined);
    throw error;
  }
}

/** Throws `store_unavailable` if a migration is missing, `incompatible_schema` if the schema needs newer code. */
export async function requireMigrated(request: MigrateRequest): Promise<void> {
  const { version, missing } = await withClient(request, (client) => missingOf(client, request));
  if (missing.length === 0) return;
  const names = missing.map(({ name }) => name);
  throw new WorkronError(
    'store_unavailable',
    `Schema ${request.schema} is at version ${version} and lacks ${names.join(', ')}; run \`workron migrate\``,
    { retryAfterMs: 1_000 },
  );
}

async function missingOf(
  client: pg.Client,
  { schema, migrations = MIGRATIONS }: MigrateRequest,
): Promise<{ version: number; missing: Migration[] }> {
  // Not by to_regclass: after a wait for the lock, it would answer from what the connection remembers of the catalog.
  const { rows: found } = await client.query(
    `select 1 from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = $1 and c.relname = 'meta'`,
    [schema],
  );
  const { rows: meta } =
    found.length === 0
      ? { rows: [] }
      : await client.query<{ schema_version: number; min_code: number; foundation?: string | null }>(
          `select * from "${schema}".meta`,
        );
  const { schema_version: version, min_code: minCode, foundation } = meta[0] ?? { schema_version: 0, min_code: 0 };
  requireCode(minCode, `Schema ${schema}`);
  if (version > 0) requireFoundation(migrations, foundation, `Schema ${schema}`);
  return { version, missing: migrations.filter((migration) => migration.version > version) };
}

/** Runs one migration in the transaction of the caller. */
async function apply(client: pg.Client, schema: string, { version, script }: Migration): Promise<number> {
  // Only if it is missing: a role that may not create schemas can use one that was created for it.
  const { rows } = await client.query('select 1 from pg_namespace where nspname = $1', [schema]);
  if (rows.length === 0) await client.query(`create schema "${schema}"`);
  await client.query(script.replaceAll('workron.', `"${schema}".`));
  await client.query(`update "${schema}".meta set schema_version = $1, min_code = greatest(min_code, $2)`, [
    version,
    OLDEST_SHARED_CODE,
  ]);
  return version;
}

/** The advisory lock of a schema's migration, from the schema's name: meta.lock_space may not exist yet. */
function lockOf(schema: string): [number, number] {
  const hash = createHash('sha256').update(`workron migrate ${schema}`).digest();
  return [hash.readInt32BE(0), hash.readInt32BE(4)];
}

async function withClient<T>({ url }: MigrateRequest, body: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ ...connectionSettings, connectionString: url, query_timeout: MIGRATION_TIMEOUT_MS });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await body(client);
  } catch (error) {
    throw toStoreError(error);
  } finally {
    await client.end().catch(() => undefined);
  }
}
