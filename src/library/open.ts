/** Opens the place where jobs live, by its URL. */

import type { BlockList } from 'node:net';
import { decode } from '../api/decode.ts';
import { NotifyList, notifyFrom } from '../api/notify.ts';
import type { Clock } from '../core/clock.ts';
import { WorkronError } from '../core/error.ts';
import { systemClock } from '../ops/clock.ts';
import { createLog, type Log, silentLog } from '../ops/log.ts';
import type { LogLevel } from '../ops/log-level.ts';
import { SettingsError } from '../ops/settings/error.ts';
import { SETTINGS, type StoreChoice } from '../ops/settings/settings.ts';
import { chooseStore } from '../ops/settings/store.ts';
import type { NotifyContext } from '../scheduler/notify/targets.ts';
import type { Store } from '../store/store.ts';
import { listOf } from '../worker/webhook/private-address.ts';
import { webhookHandler } from '../worker/webhook/webhook.ts';
import type { Backend } from './backend.ts';
import { msOf } from './handle.ts';
import type { Middleware } from './middleware.ts';
import { type Notify, notifyToWire } from './notify.ts';
import type { Duration } from './options.ts';
import { tracing } from './tracing.ts';
import { version } from './version.ts';
import { Workron } from './workron.ts';

export interface OpenOptions {
  /** Of a scheduler behind HTTP. */
  token?: string;
  /** What Workron has to say about itself: a level for JSON lines on stderr, a logger of your own, or nothing; `warn`. */
  log?: LogLevel | 'silent' | Log;
  /** PostgreSQL: the schema that holds the tables; `workron`. */
  schema?: string;
  /** PostgreSQL: connections; 10. Workers and wake-ups take two more. */
  poolSize?: number;
  /** PostgreSQL: a way around a transaction pooler, for locks and notifications. */
  directUrl?: string;
  /** PostgreSQL: bring the schema up to date; `false` where somebody else does. */
  migrate?: boolean;
  /** How long a worker may be silent before its jobs are given to others; 30 s. */
  lease?: Duration;
  heartbeat?: Duration;
  /** What is to happen around every submission and every run; the first is the outermost. */
  middleware?: readonly Middleware[];
  /** OpenTelemetry spans where `@opentelemetry/api` is installed; `true`. */
  tracing?: boolean;
  /** Who is told of every job and schedule, beside what those say themselves. The same on all processes of a database. */
  notify?: readonly Notify[];
  /** Signs what goes to webhooks. */
  notifySecret?: string;
  /** Where people find this installation's dashboard, for links in messages. */
  publicUrl?: string;
  /** Private addresses at which this process may call webhooks: `10.0.0.0/8`, `127.0.0.1`, or `all`. */
  notifyAllowPrivate?: readonly string[];
}

/**
 * `postgres://…`, `./workron.db` (SQLite), `memory:`, or `http://…` for a Workron that runs elsewhere; or a store of one's
 * own, which is closed with it. Resolves once the store is there and its tables are up to date.
 */
export async function open(url: string | Store, options: OpenOptions = {}): Promise<Workron> {
  const log = logOf(options.log ?? 'warn');
  const traced = (options.tracing ?? true) ? await tracing(version) : null;
  const middleware = [...(traced === null ? [] : [traced]), ...(options.middleware ?? [])];
  const webhooks = webhookHandler({ allowed: networksOf(options.notifyAllowPrivate ?? []), version });
  return new Workron({ home: await openHome(url, options, log), log, middleware, webhooks });
}

async function openHome(url: string | Store, options: OpenOptions, log: Log): Promise<Backend> {
  if (typeof url === 'string' && /^https?:/i.test(url)) {
    if (options.notify !== undefined) {
      throw new WorkronError('bad_request', 'notify: belongs to the Workron that is asked, not to those who ask it');
    }
    const { openHttpBackend } = await import('./http-backend.ts');
    return openHttpBackend({ url, token: options.token ?? null, log });
  }
  const { openStoreBackend } = await import('./store-backend.ts');
  const leaseMs = msOf(options.lease ?? SETTINGS.leaseMs.default);
  const heartbeatMs = msOf(options.heartbeat ?? Math.min(SETTINGS.heartbeatMs.default, Math.floor(leaseMs / 3)));
  const notify = installationNotify(options);
  const store = typeof url === 'string' ? await openStore(url, options, log, systemClock) : url;
  try {
    return await openStoreBackend(store, { log, leaseMs, heartbeatMs, notify });
  } catch (error) {
    await store[Symbol.asyncDispose]();
    throw error;
  }
}

/** Drivers are loaded on demand. */
export async function openStore(url: string, options: OpenOptions, log: Log, clock: Clock): Promise<Store> {
  const choice = choiceOf(url);
  switch (choice.driver) {
    case 'memory': {
      const { openMemory } = await import('../store/memory/base/open.ts');
      return openMemory({ clock });
    }
    case 'sqlite': {
      const { openSqlite } = await import('../store/sqlite/base/open.ts');
      return openSqlite({ file: choice.file, clock, log });
    }
    case 'postgres': {
      const { openPostgres } = await import('../store/postgres/base/open.ts');
      const { schema, poolSize, directUrl, migrate } = options;
      return openPostgres({
        url: choice.url,
        log,
        ...(schema === undefined ? {} : { schema }),
        ...(poolSize === undefined ? {} : { poolSize }),
        ...(directUrl === undefined ? {} : { directUrl }),
        ...(migrate === undefined ? {} : { migrate }),
      });
    }
  }
}

function installationNotify({ notify = [], notifySecret, publicUrl }: OpenOptions): NotifyContext {
  const list = notifyFrom(decode(NotifyList, notifyToWire(notify)));
  return { list, secret: notifySecret ?? null, publicUrl: publicUrl ?? null };
}

function networksOf(list: readonly string[]): BlockList {
  try {
    return listOf(list);
  } catch {
    const hint = 'networks such as 10.0.0.0/8, single addresses, or all';
    throw new WorkronError('bad_request', `notifyAllowPrivate: expected ${hint}, got ${list.join(', ')}`);
  }
}

function choiceOf(url: string): StoreChoice {
  try {
    return chooseStore(url, null);
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    const hint = 'postgres://…, ./workron.db, memory: or http://…';
    throw new WorkronError('bad_request', `${error.message.replace(/^db-url: /, '')}; expected ${hint}`);
  }
}

function logOf(wanted: LogLevel | 'silent' | Log): Log {
  if (wanted === 'silent') return silentLog;
  return typeof wanted === 'string' ? createLog(wanted) : wanted;
}
