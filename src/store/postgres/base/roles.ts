/** PostgreSQL roles with no more rights than their task needs. They cannot log in themselves: grant them to roles that can. */

import pg from 'pg';
import { connectionSettings } from './database.ts';
import { toStoreError } from './store-error.ts';

const ROLES = ['submit', 'viewer', 'worker', 'scheduler'] as const;

/** What a viewer may read: no table that has environments, inputs, addresses of webhooks, tokens or secrets. */
const VISIBLE = [
  'live',
  'run',
  'progress',
  'queue',
  'lane',
  'tick',
  'stat',
  'worker',
  'instance',
  'leader',
  'edge',
] as const;
const VISIBLE_OF_JOB =
  'id, queue, kind, name, priority, tags, created_at, workflow_id, step_key, group_id, group_index, rerun_of';

/** Makes the roles SCHEMA_submit, _viewer, _worker and _scheduler, and grants them their rights. Returns their names. */
export async function grantRoles({ url, schema }: { url: string; schema: string }): Promise<string[]> {
  const client = new pg.Client({ ...connectionSettings, connectionString: url });
  try {
    await client.connect();
    await client.query('begin');
    for (const statement of statements(schema)) await client.query(statement);
    await client.query('commit');
  } catch (error) {
    throw toStoreError(error);
  } finally {
    await client.end().catch(() => undefined);
  }
  return ROLES.map((role) => `${schema}_${role}`);
}

/** `schema` is an identifier that needs no escaping inside of quotes. */
function statements(schema: string): string[] {
  const s = `"${schema}"`;
  const [submit, viewer, worker, scheduler] = ROLES.map((role) => `"${schema}_${role}"`) as [
    string,
    string,
    string,
    string,
  ];
  const all = [submit, viewer, worker, scheduler].join(', ');
  return [
    ...ROLES.map(
      (role) =>
        `do $$ begin create role "${schema}_${role}" nologin; exception when duplicate_object then null; end $$`,
    ),
    `revoke all on schema ${s} from public`,
    `revoke all on all tables in schema ${s} from public, ${all}`,
    `revoke all on all functions in schema ${s} from public, ${all}`,
    `grant usage on schema ${s} to ${all}`,
    // Runs with the rights of its owner. Its body names every object with its schema; the path is fixed nevertheless.
    `do $$ declare f regprocedure; begin
      for f in select oid from pg_proc where pronamespace = '${s}'::regnamespace and proname = 'submit' loop
        execute format('alter function %s security definer set search_path = pg_catalog, pg_temp', f);
        execute format('grant execute on function %s to ${submit}', f);
      end loop; end $$`,
    `grant select on ${VISIBLE.map((table) => `${s}.${table}`).join(', ')} to ${viewer}`,
    `grant select (${VISIBLE_OF_JOB}) on ${s}.job to ${viewer}`,
    `grant select, insert, update, delete on all tables in schema ${s} to ${worker}, ${scheduler}`,
    `grant usage, select on all sequences in schema ${s} to ${worker}, ${scheduler}`,
    `grant execute on all functions in schema ${s} to ${worker}, ${scheduler}`,
    // A worker resolves secrets with its key, and has no business with tokens and sessions.
    `revoke all on ${s}.token, ${s}.session from ${worker}`,
    `revoke insert, update, delete on ${s}.secret from ${worker}`,
    `revoke insert, update, delete on ${s}.meta from ${worker}`,
  ];
}
