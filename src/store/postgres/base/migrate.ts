/** Brings a schema to the version that this code needs. */

import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import pg from 'pg';
import { WorkronError } from '../../../core/error.ts';
import { OLDEST_SHARED_CODE, requireCode } from '../../code.ts';
import { connectionSettings } from './database.ts';
import { toStoreError } from './postgres-error.ts';

const FOLDER = new URL('../migrations/', import.meta.url);

/** Longer than other statements get: another process may be migrating, and a migration may take minutes. */
const MIGRATION_TIMEOUT_MS = 600_000;

interface MigrateRequest {
  url: string;
  schema: string;
  /** Where the numbered migrations are, if not in Workron's own folder. */
  folder?: URL;
}

interface Migrated {
  from: number;
  to: number;
}

/** Applies the missing migrations, each in its own transaction. If several processes call this at once, one of them does it. */
export async function migrate(request: MigrateRequest): Promise<Migrated> {
  return await withClient(request, async (client) => {
    const before = await missingOf(client, request);
    if (before.names.length === 0) return { from: before.version, to: before.version };
    await client.query('select pg_advisory_lock($1, $2)', lockOf(request.schema));
    const { version, names } = await missingOf(client, request);
    let reached = version;
    for (const name of names) reached = await apply(client, request, name);
    return { from: version, to: reached };
  });
}

/** Throws `store_unavailable` if a migration is missing, `incompatible_schema` if the schema needs newer code. */
export async function requireMigrated(request: MigrateRequest): Promise<void> {
  const { version, names } = await withClient(request, (client) => missingOf(client, request));
  if (names.length === 0) return;
  throw new WorkronError(
    'store_unavailable',
    `Schema ${request.schema} is at version ${version} and lacks ${names.join(', ')}; run \`workron migrate\``,
    { retryAfterMs: 1_000 },
  );
}

async function missingOf(
  client: pg.Client,
  { schema, folder = FOLDER }: MigrateRequest,
): Promise<{ version: number; names: string[] }> {
  const { rows: found } = await client.query<{ meta: string | null }>('select to_regclass($1) as meta', [
    `"${schema}".meta`,
  ]);
  const { rows: meta } =
    found[0]?.meta == null
      ? { rows: [] }
      : await client.query<{ schema_version: number; min_code: number }>(
          `select schema_version, min_code from "${schema}".meta`,
        );
  const { schema_version: version, min_code: minCode } = meta[0] ?? { schema_version: 0, min_code: 0 };
  requireCode(minCode, `Schema ${schema}`);
  const names = readdirSync(folder)
    .filter((name) => name.endsWith('.sql') && Number.parseInt(name, 10) > version)
    .sort();
  return { version, names };
}

async function apply(client: pg.Client, { schema, folder = FOLDER }: MigrateRequest, name: string): Promise<number> {
  const version = Number.parseInt(name, 10);
  const script = readFileSync(new URL(name, folder), 'utf8').replaceAll('workron.', `"${schema}".`);
  await client.query('begin');
  // Only if it is missing: a role that may not create schemas can use one that was created for it.
  const { rows } = await client.query('select 1 from pg_namespace where nspname = $1', [schema]);
  if (rows.length === 0) await client.query(`create schema "${schema}"`);
  await client.query(script);
  await client.query(`update "${schema}".meta set schema_version = $1, min_code = greatest(min_code, $2)`, [
    version,
    OLDEST_SHARED_CODE,
  ]);
  await client.query('commit');
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
