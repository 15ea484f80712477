/**
 * The connection that stays one session: it receives hints of other processes (LISTEN) and holds the locks of workers and
 * duties. It is opened when first needed, pinged, and opened again whenever it breaks. A new session takes the locks of this
 * process's workers again, but not those of duties, which other instances may have taken meanwhile.
 */

import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { WorkronError } from '../../../core/error.ts';
import { systemClock } from '../../../ops/clock.ts';
import type { Log } from '../../../ops/log.ts';
import { connectionSettings } from './database.ts';
import { toStoreError } from './store-error.ts';

const PING_EVERY_MS = 5_000;
const PING_TIMEOUT_MS = 5_000;
const HOLD_TIMEOUT_MS = 10_000;
/** The setting that holds `Lent.mark`. */
export const SESSION_MARK = 'workron.session';
const BACKOFF_MS = { min: 100, max: 5_000 };

interface DirectSessionOptions {
  url: string;
  channel: string;
  lockSpace: number;
  /** Called with the payload of each NOTIFY on the channel. */
  onNotify: (text: string) => void;
  /** Called when it listens again after a break: hints may have been missed. */
  onResumed: () => void;
  /** Called when the session has ended, and with it every lock that it held. */
  onEnded: () => void;
  /** With `false`, it does not keep the process alive while it has nothing to do. */
  keepsAlive: boolean;
  log: Log;
}

/** The session as it is lent out. */
export interface Lent {
  query<Row>(text: string, values: readonly unknown[]): Promise<Row[]>;
  /** Differs for every connection and is a setting of the session: shows whether a pooler gave our session to others. */
  readonly mark: string;
}

type Task = (lent: Lent) => Promise<void>;

export class DirectSession implements AsyncDisposable {
  readonly #options: DirectSessionOptions;
  readonly #closed = new AbortController();
  #listening = false;
  /** Workers whose lock this process wants to hold. */
  readonly #wanted = new Set<number>();
  /** Workers whose lock the current connection holds. */
  #held = new Set<number>();
  readonly #waiting = new Map<number, () => void>();
  #wake = new AbortController();
  #loop: Promise<void> | undefined;
  #tasks: Task[] = [];

  constructor(options: DirectSessionOptions) {
    this.#options = options;
  }

  listen(): void {
    if (this.#listening) return;
    this.#listening = true;
    this.#wakeLoop();
  }

  /** Resolves once this process holds the worker's lock. It keeps the lock, also across reconnections, until `release`. */
  async hold(workerId: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const given = AbortSignal.any([signal, this.#closed.signal, AbortSignal.timeout(HOLD_TIMEOUT_MS)]);
    const held = new Promise<void>((resolve) => this.#waiting.set(workerId, resolve));
    const givenUp = new Promise<never>((_, reject) => {
      given.addEventListener('abort', () => {
        if (signal.aborted) reject(signal.reason as Error);
        else reject(new WorkronError('store_unavailable', 'The database does not give this worker its session lock'));
      });
    });
    this.#wanted.add(workerId);
    this.#wakeLoop();
    try {
      await Promise.race([held, givenUp]);
    } catch (error) {
      this.release(workerId);
      throw error;
    } finally {
      this.#waiting.delete(workerId);
    }
  }

  release(workerId: number): void {
    if (this.#wanted.delete(workerId)) this.#wakeLoop();
  }

  /** Runs `body` on the session, once it is open and earlier calls are done. */
  async use<T>(body: (lent: Lent) => Promise<T>, signal: AbortSignal): Promise<T> {
    signal.throwIfAborted();
    const given = AbortSignal.any([signal, this.#closed.signal, AbortSignal.timeout(HOLD_TIMEOUT_MS)]);
    return await new Promise<T>((resolve, reject) => {
      const task: Task = async (lent) => {
        given.removeEventListener('abort', giveUp);
        await body(lent).then(resolve, (error: unknown) => {
          reject(toStoreError(error));
          // An error from the server leaves the session usable.
          if (!(error instanceof pg.DatabaseError)) throw error;
        });
      };
      const giveUp = () => {
        this.#tasks = this.#tasks.filter((other) => other !== task);
        const away = new WorkronError('store_unavailable', 'The database gives this process no session of its own');
        reject(signal.aborted ? (signal.reason as Error) : away);
      };
      given.addEventListener('abort', giveUp, { once: true });
      this.#tasks.push(task);
      this.#wakeLoop();
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed.abort();
    await this.#loop;
  }

  #wakeLoop(): void {
    this.#wake.abort();
    this.#loop ??= this.#keep();
  }

  async #keep(): Promise<void> {
    let backoffMs = BACKOFF_MS.min;
    for (let round = 1; !this.#closed.signal.aborted; round += 1) {
      try {
        await this.#serve(round > 1, () => {
          backoffMs = BACKOFF_MS.min;
        });
      } catch (error) {
        if (!this.#closed.signal.aborted) {
          this.#options.log.debug({ error, retryInMs: backoffMs }, 'the direct database connection broke');
        }
      }
      await systemClock.sleep(backoffMs, this.#closed.signal);
      backoffMs = Math.min(backoffMs * 2, BACKOFF_MS.max);
    }
  }

  /** Runs one connection until it breaks (throws) or the store is closed. */
  async #serve(again: boolean, onServed: () => void): Promise<void> {
    const { url, channel, keepsAlive, onNotify, onResumed, onEnded } = this.#options;
    const client = new pg.Client({ ...connectionSettings, connectionString: url, query_timeout: PING_TIMEOUT_MS });
    const socket = client as pg.Client & Pick<Socket, 'ref' | 'unref'>; // Not in the types of pg.
    const broken = new AbortController();
    broken.signal.addEventListener('abort', onEnded);
    client.on('error', () => broken.abort());
    client.on('end', () => broken.abort());
    client.on('notification', ({ payload }) => onNotify(payload ?? ''));
    this.#held = new Set();
    let listens = false;
    try {
      await client.connect();
      const lent = await prepare(client);
      while (!this.#closed.signal.aborted && !broken.signal.aborted) {
        this.#wake = new AbortController();
        if (this.#listening && !listens) {
          await client.query(`listen ${channel}`);
          listens = true;
          if (again) onResumed();
        }
        await this.#matchLocks(client);
        if (this.#tasks.length === 0) await client.query('select 1');
        for (let task = this.#tasks.shift(); task !== undefined; task = this.#tasks.shift()) await task(lent);
        onServed();
        const disturbed = AbortSignal.any([this.#closed.signal, broken.signal, this.#wake.signal]);
        if (!keepsAlive) socket.unref();
        await sleep(PING_EVERY_MS, undefined, { signal: disturbed, ref: keepsAlive }).catch(() => undefined);
        socket.ref();
      }
    } finally {
      broken.abort();
      await client.end().catch(() => undefined);
    }
  }

  /** Takes the locks that are wanted and releases the others. A lock that a former session still holds is tried again later. */
  async #matchLocks(client: pg.Client): Promise<void> {
    for (const id of this.#held) {
      if (this.#wanted.has(id)) continue;
      await client.query('select pg_advisory_unlock($1, $2)', [this.#options.lockSpace, id]);
      this.#held.delete(id);
    }
    for (const id of this.#wanted) {
      if (this.#held.has(id)) continue;
      const { rows } = await client.query<{ got: boolean }>('select pg_try_advisory_lock($1, $2) as got', [
        this.#options.lockSpace,
        id,
      ]);
      if (rows[0]?.got !== true) continue;
      this.#held.add(id);
      this.#waiting.get(id)?.();
    }
  }
}

async function prepare(client: pg.Client): Promise<Lent> {
  const mark = randomUUID();
  await client.query(`select set_config('${SESSION_MARK}', $1, false)`, [mark]);
  return {
    mark,
    query: async <Row>(text: string, values: readonly unknown[]) =>
      (await client.query(text, [...values])).rows as Row[],
  };
}
