/** Brings a schema to what this code knows. */

import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import pg from 'pg';
import { WorkronError } from '../../../core/error.ts';
import { connectionSettings } from './database.ts';
import { toStoreError } from './postgres-error.ts';

const FOLDER = new URL('../migrations/', import.meta.url);

/** This code can work with a schema whose `min_code` is at most this. */
const CODE = 1;
/** Others may be migrating at this moment, and a migration may take its time. */
const PATIENCE_MS = 600_000;

export interface MigrateRequest {
  url: string;
  schema: string;
}

export interface Migrated {
  from: number;
  to: number;
}

/** Applies what is missing, each migration in a transaction of its own; of several processes at once, one does it. */
export async function migrate(request: MigrateRequest): Promise<Migrated> {
  return await withClient(request, async (client) => {
    const before = await missingOf(client, request.schema);
    if (before.names.length === 0) return { from: before.version, to: before.version };
    await client.query('select pg_advisory_lock($1, $2)', lockOf(request.schema));
    const { version, names } = await missingOf(client, request.schema);
    let reached = version;
    for (const name of names) reached = await apply(client, request.schema, name);
    return { from: version, to: reached };
  });
}

/** Throws unless the schema is as this code needs it. */
export async function requireMigrated(request: MigrateRequest): Promise<void> {
  const { version, names } = await withClient(request, (client) => missingOf(client, request.schema));
  if (names.length === 0) return;
  throw new WorkronError(
    'store_unavailable',
    `Schema ${request.schema} is at version ${version} and lacks ${names.join(', ')}; run \`workron migrate\``,
    { retryAfterMs: 1_000 },
  );
}

async function missingOf(client: pg.Client, schema: string): Promise<{ version: number; names: string[] }> {
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
  if (minCode > CODE) {
    throw new WorkronError(
      'store_unavailable',
      `Schema ${schema} was made by a newer Workron (it needs code ${minCode}, this is ${CODE}); start that version`,
    );
  }
  const names = readdirSync(FOLDER)
    .filter((name) => name.endsWith('.sql') && Number.parseInt(name, 10) > version)
    .sort();
  return { version, names };
}

async function apply(client: pg.Client, schema: string, name: string): Promise<number> {
  const version = Number.parseInt(name, 10);
  const script = readFileSync(new URL(name, FOLDER), 'utf8').replaceAll('workron.', `"${schema}".`);
  await client.query('begin');
  // Only where it is missing: a role that may not create schemas can use one that was made for it.
  const { rows } = await client.query('select 1 from pg_namespace where nspname = $1', [schema]);
  if (rows.length === 0) await client.query(`create schema "${schema}"`);
  await client.query(script);
  await client.query(`update "${schema}".meta set schema_version = $1`, [version]);
  await client.query('commit');
  return version;
}

/** Two numbers from the schema's name: the schema may not exist yet, and others in this database have locks too. */
function lockOf(schema: string): [number, number] {
  const hash = createHash('sha256').update(`workron migrate ${schema}`).digest();
  return [hash.readInt32BE(0), hash.readInt32BE(4)];
}

async function withClient<T>({ url }: MigrateRequest, body: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ ...connectionSettings, connectionString: url, query_timeout: PATIENCE_MS });
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
