/** Jobs in one schema of a PostgreSQL database, for any number of processes. */

import { randomUUID } from 'node:crypto';
import { WorkronError } from '../../../core/error.ts';
import { NEVER } from '../../../core/never.ts';
import type { Log } from '../../../ops/log.ts';
import { bindAll } from '../../bind.ts';
import type { Store } from '../../store.ts';
import { beginFenced, Leadership } from '../cluster/leadership.ts';
import { complete, enlist } from '../graph/enlist.ts';
import { LinkedClaims } from '../graph/linked-claims.ts';
import { RecentSuccesses } from '../graph/recent-successes.ts';
import { Lanes } from '../jobs/lanes.ts';
import { OpenClaims } from '../jobs/open-claims.ts';
import { FairQueues } from '../jobs/turns.ts';
import { Waiter } from '../jobs/waiter.ts';
import type { Context } from './context.ts';
import { Database } from './database.ts';
import { DirectSession } from './direct-session.ts';
import { engineOn, SharedStatements } from './engine.ts';
import { Hints } from './hints.ts';
import { type DatabaseAddress, postgresLeaseKeeper } from './lease-keeper.ts';
import { methods } from './methods.ts';
import { migrate, requireMigrated } from './migrate.ts';
import { type Sql, statements } from './sql.ts';

export interface PostgresOptions {
  url: string;
  /** Each installation in a database has its own schema. */
  schema?: string;
  /** Connections for calls; two more are for heartbeats and for listening. */
  poolSize?: number;
  /** An address that does not lead through a transaction pooler, for locks, LISTEN and migrations. */
  directUrl?: string;
  /** With `false`, statements are sent without names, for a pooler that does not support named prepared statements. */
  preparedStatements?: boolean;
  /** Migrates the schema. If false, a schema that lacks migrations is refused with `store_unavailable`. */
  migrate?: boolean;
  /** With `false`, a process in which no call is under way may end. Default: true. */
  keepsAlive?: boolean;
  log: Log;
}

const DEFAULT_SCHEMA = 'workron';
const DEFAULT_POOL_SIZE = 10;
const SCHEMA_NAME = /^[a-z_][a-z0-9_]{0,62}$/;

/** Resolves once the database answered and its schema is up to date. */
export async function openPostgres(options: PostgresOptions): Promise<Store> {
  const { url, schema = DEFAULT_SCHEMA, poolSize = DEFAULT_POOL_SIZE, preparedStatements = true, log } = options;
  const { keepsAlive = true } = options;
  const directUrl = options.directUrl ?? url;
  if (!SCHEMA_NAME.test(schema)) {
    throw new WorkronError('bad_request', `The schema's name must match ${SCHEMA_NAME.source}, not ${schema}`);
  }
  await ((options.migrate ?? true) ? migrate : requireMigrated)({ url: directUrl, schema });

  const sql = statements(schema, { prepared: preparedStatements });
  const database = Database.open({ url, poolSize, keepsAlive, log });
  const [meta] = await database.query<Meta>(sql.meta, [], NEVER).catch(async (error: unknown) => {
    await database[Symbol.asyncDispose]();
    throw error;
  });
  const context = createContext(
    { schema, directUrl, preparedStatements, keepsAlive, log, sql, database },
    meta ?? { lock_space: 0, folds: false },
  );
  return storeOn(context, { url, schema, preparedStatements });
}

interface Meta {
  lock_space: number;
  folds: boolean;
}

interface Opened {
  schema: string;
  directUrl: string;
  preparedStatements: boolean;
  keepsAlive: boolean;
  log: Log;
  sql: Sql;
  database: Database;
}

function createContext(opened: Opened, { lock_space: lockSpace, folds }: Meta): Context {
  const { schema, directUrl, preparedStatements, keepsAlive, log, sql, database } = opened;
  const channel = `workron_${lockSpace}`;
  const instanceId = randomUUID();
  const hints = new Hints({
    instanceId,
    log,
    listen: () => direct.listen(),
    send: async (text, onlyToWaiters) => {
      if (onlyToWaiters) await database.query(sql.notifyWaiters, [channel, text, instanceId], NEVER);
      else await database.query(sql.notify, [channel, text], NEVER);
    },
  });
  const direct = new DirectSession({
    url: directUrl,
    channel,
    lockSpace,
    keepsAlive,
    log,
    onNotify: (text) => hints.receive(text),
    onResumed: () => hints.receiveAnything(),
    onEnded: () => {
      leadership.forgetLocks();
      hints.announceLeadershipLost();
    },
  });
  const leadership = new Leadership({ database, direct, sql, lockSpace, log });
  const fairQueues = new FairQueues();
  return {
    schema: `"${schema}"`,
    folds,
    database,
    direct,
    sql,
    shared: new SharedStatements(`"${schema}"`, { prepared: preparedStatements }),
    lanes: new Lanes(database, sql, fairQueues),
    fairQueues,
    hints,
    announceWork: { statement: sql.notifyWaiters, values: [channel, hints.workMessage, instanceId] },
    waiter: new Waiter(database, sql, instanceId),
    leadership,
    linkedClaims: new LinkedClaims(),
    openClaims: new OpenClaims(),
    recentSuccesses: new RecentSuccesses(),
    notes: new Map(),
  };
}

function storeOn(context: Context, place: DatabaseAddress): Store {
  const { database, direct, hints, waiter } = context;
  return {
    driver: 'postgres',
    location: locationOf(place),
    exclusive: false,
    leaseKeeper: postgresLeaseKeeper(place),
    transactional: bindAll({ enlist, complete }, context),
    ...engineOn(context),
    ...bindAll(methods, context),
    fenced: (fence) =>
      storeOn(
        { ...context, database: database.beginning(beginFenced(context.schema, fence)), notes: new Map() },
        place,
      ),
    async [Symbol.asyncDispose]() {
      await hints[Symbol.asyncDispose]();
      await direct[Symbol.asyncDispose]();
      await waiter.end(NEVER).catch(() => undefined);
      await database[Symbol.asyncDispose]();
    },
  };
}

/** The address without its password. */
export function locationOf({ url, schema }: Pick<DatabaseAddress, 'url' | 'schema'>): string {
  if (!URL.canParse(url)) return `PostgreSQL, schema ${schema}`;
  const { protocol, username, host, pathname } = new URL(url);
  return `${protocol}//${username === '' ? '' : `${username}@`}${host}${pathname} (schema ${schema})`;
}
