/**
 * The connections to the server: a pool for all calls, and one connection reserved for heartbeats, which must not wait behind
 * them. A broken connection fails the call that used it; the next call gets a new one.
 */

import pg from 'pg';
import { isWorkronError } from '../../../core/error.ts';
import type { Log } from '../../../ops/log.ts';
import { isWrite } from './is-write.ts';
import { codeOf, DEADLOCK, READ_ONLY, toStoreError } from './store-error.ts';
import { types } from './values.ts';

/** A statement that each connection prepares once, under its name. */
export interface Statement {
  name?: string;
  text: string;
}

/** A statement with its parameters. */
export interface Query {
  statement: Statement;
  values: readonly unknown[];
}

/** Runs statements: each on any connection, or all on the connection of a transaction. */
export interface Session {
  query<Row>(statement: Statement, values?: readonly unknown[]): Promise<Row[]>;
}

/** A session that also tells the number of rows that a statement wrote. */
export interface CountingSession extends Session {
  write(statement: Statement, values: readonly unknown[]): Promise<number>;
}

interface DatabaseOptions {
  url: string;
  poolSize: number;
  /** With `false`, idle connections do not keep the process alive. */
  keepsAlive?: boolean;
  log: Log;
}

interface Pools {
  calls: pg.Pool;
  reserved: pg.Pool;
}

/** Begins a transaction; throws if it is not allowed. */
export type Begin = (client: pg.ClientBase) => Promise<void>;

/** The server's time-out is shorter than ours, so a time-out on our side means that the server cannot be reached. */
const STATEMENT_TIMEOUT_MS = 10_000;
const QUERY_TIMEOUT_MS = 12_000;
const LOCK_TIMEOUT_MS = 5_000;
const CONNECT_TIMEOUT_MS = 10_000;
const IDLE_TIMEOUT_MS = 30_000;
const DEADLOCK_RETRIES = 5;

/** Without these, a call on a half-open socket would wait for the operating system's time-out, which takes hours. */
export const connectionSettings = {
  application_name: 'workron',
  keepAlive: true,
  keepAliveInitialDelayMillis: 5_000,
  connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  query_timeout: QUERY_TIMEOUT_MS,
  types,
} as const;

/**
 * One plan for all values: arrays as parameters have no statistics worth a new plan, and a plan that was made while a
 * table was small must not scan it once it is large. No parallel workers: up to PostgreSQL 17, a scan that is switched off and
 * yet the only way seems expensive enough to start them, to read a few queues twice a second.
 */
const SESSION = `
  set timezone = 'UTC';
  set statement_timeout = ${STATEMENT_TIMEOUT_MS};
  set lock_timeout = ${LOCK_TIMEOUT_MS};
  set idle_in_transaction_session_timeout = ${STATEMENT_TIMEOUT_MS};
  set plan_cache_mode = force_generic_plan;
  set enable_seqscan = off;
  set enable_bitmapscan = off;
  set max_parallel_workers_per_gather = 0;
  set jit = off`;

export class Database implements AsyncDisposable {
  readonly #pools: Pools;
  readonly #log: Log;
  readonly #begin: Begin;
  readonly #counts: { deadlocks: number; wasFull: boolean };

  private constructor(pools: Pools, log: Log, begin: Begin, counts = { deadlocks: 0, wasFull: false }) {
    this.#counts = counts;
    this.#pools = pools;
    this.#log = log;
    this.#begin = begin;
  }

  static open({ url, poolSize, keepsAlive = true, log }: DatabaseOptions): Database {
    const given = { connectionString: url, allowExitOnIdle: !keepsAlive };
    const pools = {
      calls: openPool({ ...given, max: poolSize, idleTimeoutMillis: IDLE_TIMEOUT_MS }, log),
      reserved: openPool({ ...given, max: 1, idleTimeoutMillis: 0 }, log),
    };
    return new Database(pools, log, begin);
  }

  /** True if writes are allowed only in transactions of its own kind. */
  get isFenced(): boolean {
    return this.#begin !== begin;
  }

  /** The number of transactions that were repeated because of a deadlock. */
  get deadlocks(): number {
    return this.#counts.deadlocks;
  }

  /** True after a write that failed because the disk is full. */
  get wasFull(): boolean {
    return this.#counts.wasFull;
  }

  set wasFull(value: boolean) {
    this.#counts.wasFull = value;
  }

  /** Returns a database on the same connections whose transactions begin in another way. */
  beginning(begin: Begin): Database {
    return new Database(this.#pools, this.#log, begin, this.#counts);
  }

  /** Runs one statement, which is one transaction. A leader's write is one that begins with its fence. */
  query<Row>(statement: Statement, values: readonly unknown[], signal: AbortSignal): Promise<Row[]> {
    if (this.isFenced && isWrite(statement)) {
      return this.transaction(signal, (session) => session.query<Row>(statement, values));
    }
    return this.#with(this.#pools.calls, signal, (client) => send<Row>(client, statement, values));
  }

  /** Each statement is one transaction. */
  session(signal: AbortSignal): CountingSession {
    return {
      query: (statement, values = []) => this.query(statement, values, signal),
      write: (statement, values) =>
        this.isFenced
          ? this.transaction(signal, (session) => session.write(statement, values))
          : this.#with(this.#pools.calls, signal, (client) => write(client, statement, values)),
    };
  }

  /**
   * Runs one statement and, once it has ended, `next`, which is a transaction of its own, on the same connection without a
   * round trip between them. Resolves with the answer to the first. `next` runs even if the first fails, and may itself
   * fail unnoticed.
   */
  async queryThen<Row>(
    statement: Statement,
    values: readonly unknown[],
    next: Query,
    signal: AbortSignal,
  ): Promise<Row[]> {
    if (this.isFenced) {
      const rows = await this.query<Row>(statement, values, signal);
      await this.query(next.statement, next.values, signal).catch(() => undefined);
      return rows;
    }
    return await new Promise((resolve, reject) => {
      const both = this.#with(this.#pools.calls, signal, async (client) => {
        const first = send<Row>(client, statement, values);
        const second = send(client, next.statement, next.values).catch(() => undefined);
        try {
          resolve(await first);
        } finally {
          await second;
        }
      });
      both.catch(reject);
    });
  }

  /** Runs one statement on the reserved connection. */
  queryReserved<Row>(statement: Statement, values: readonly unknown[], signal: AbortSignal): Promise<Row[]> {
    return this.#with(this.#pools.reserved, signal, (client) => send<Row>(client, statement, values));
  }

  /** Runs `body` in a transaction. `body` may be called again, so it must not change state of this process. */
  transaction<T>(signal: AbortSignal, body: (session: CountingSession) => Promise<T>): Promise<T> {
    return this.#with(this.#pools.calls, signal, (client) => runTransaction(client, this.#begin, body));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#pools.calls.end(), this.#pools.reserved.end()]);
  }

  /** Repeats what was chosen as the victim of a deadlock. */
  async #with<T>(pool: pg.Pool, signal: AbortSignal, body: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    for (let round = 1; ; round += 1) {
      try {
        return await withClient(pool, signal, body);
      } catch (error) {
        if (signal.aborted && error === signal.reason) throw error;
        if (codeOf(error) !== DEADLOCK || round > DEADLOCK_RETRIES) {
          const known = toStoreError(error);
          if (isWorkronError(known, 'store_full')) this.wasFull = true;
          throw known;
        }
        this.#counts.deadlocks += 1;
        const { detail } = error as { detail?: string };
        this.#log.warn(
          { deadlocks: this.deadlocks, detail },
          'two transactions waited for each other; doing one again',
        );
      }
    }
  }
}

async function begin(client: pg.ClientBase): Promise<void> {
  await client.query('begin');
}

function openPool(config: pg.PoolConfig, log: Log): pg.Pool {
  const onConnect = (client: pg.ClientBase) => client.query(SESSION);
  // In a pipeline, a statement that is sent behind another does not wait for its answer: see `queryThen`.
  const settings = { ...config, ...connectionSettings, pipeline: true, onConnect };
  const pool = new pg.Pool(settings);
  // A connection may break at any moment. The next call on it fails; the process goes on.
  pool.on('connect', (client) => client.on('error', () => undefined));
  pool.on('error', (error) => log.debug({ error }, 'an idle database connection broke'));
  return pool;
}

async function withClient<T>(
  pool: pg.Pool,
  signal: AbortSignal,
  body: (client: pg.PoolClient) => Promise<T>,
): Promise<T> {
  const client = await acquire(pool, signal);
  try {
    const answer = await body(client);
    client.release();
    return answer;
  } catch (error) {
    // An error from PostgreSQL leaves the connection usable; after any other error its state is unknown. One to a standby would
    // stay there after the address leads elsewhere.
    const isUsable =
      error instanceof pg.DatabaseError && !codeOf(error).startsWith('57P') && codeOf(error) !== READ_ONLY;
    client.release(!isUsable);
    throw error;
  }
}

/** Returns a connection, or rejects if `signal` aborts first; a connection that arrives later goes back to the pool. */
function acquire(pool: pg.Pool, signal: AbortSignal): Promise<pg.PoolClient> {
  if (signal.aborted) return Promise.reject(signal.reason as Error);
  return new Promise((resolve, reject) => {
    const leave = () => reject(signal.reason as Error);
    signal.addEventListener('abort', leave, { once: true });
    pool.connect().then(
      (client) => {
        signal.removeEventListener('abort', leave);
        if (signal.aborted) client.release();
        else resolve(client);
      },
      (error: Error) => {
        signal.removeEventListener('abort', leave);
        reject(error);
      },
    );
  });
}

async function runTransaction<T>(
  client: pg.PoolClient,
  begin: Begin,
  body: (session: CountingSession) => Promise<T>,
): Promise<T> {
  try {
    await begin(client);
    const answer = await body({
      query: (statement, values = []) => send(client, statement, values),
      write: (statement, values) => write(client, statement, values),
    });
    await client.query('commit');
    return answer;
  } catch (error) {
    // A connection that broke has rolled back.
    await client.query('rollback').catch(() => undefined);
    throw error;
  }
}

async function send<Row>(client: pg.PoolClient, statement: Statement, values: readonly unknown[]): Promise<Row[]> {
  const { rows } = await client.query({ ...statement, values: values as unknown[] });
  return rows as Row[];
}

async function write(client: pg.PoolClient, statement: Statement, values: readonly unknown[]): Promise<number> {
  const { rowCount } = await client.query({ ...statement, values: values as unknown[] });
  return rowCount ?? 0;
}
