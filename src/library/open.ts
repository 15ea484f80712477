/** Opens a Workron by the URL of its store or server. */

import { WorkronError } from '../core/error.ts';
import { notifyContext, openNode } from '../node/node.ts';
import { openStore, type StoreSettings } from '../node/open-store.ts';
import { runtimeProblem } from '../node/runtime.ts';
import { version } from '../node/version.ts';
import { webhooksTo } from '../node/worker.ts';
import { AUTHORITY_EXPECTED, isAuthority } from '../ops/authority.ts';
import { KeyRing } from '../ops/key-ring.ts';
import { createLog, type Log, silentLog } from '../ops/log.ts';
import type { LogLevel } from '../ops/log-level.ts';
import { SettingsError } from '../ops/settings/error.ts';
import { SETTINGS } from '../ops/settings/settings.ts';
import { chooseStore } from '../ops/settings/store.ts';
import type { Store } from '../store/store.ts';
import type { Handler } from '../worker/run/handler-executor.ts';
import type { Backend } from './backend.ts';
import { refuseInThread } from './isolated-protocol.ts';
import type { Middleware } from './middleware.ts';
import { type Notify, notifyToWire } from './notify.ts';
import type { Duration } from './options.ts';
import { nodeSettings, refuseServerOptions } from './settings.ts';
import { tracing } from './tracing.ts';
import { Workron } from './workron.ts';

export interface OpenOptions {
  /** HTTP: the server's token. Not needed for a server on this machine that this user started without one. */
  token?: string;
  /**
   * HTTP: the certificates, in PEM format, of the only authorities that are trusted for a server at `https://…`. Default: the public
   * ones.
   */
  ca?: string;
  /** Workron's own log: a level for JSON lines on stderr, a logger of the application, or `silent`. Default: `warn`. */
  log?: LogLevel | 'silent' | Log;
  /** PostgreSQL: the schema that holds the tables. Default: `workron`. */
  schema?: string;
  /** PostgreSQL: the number of connections in the pool. Default: 10. Workers and wake-ups use two more. */
  poolSize?: number;
  /** PostgreSQL: a URL that bypasses a transaction pooler, for session locks and notifications. Default: the same URL. */
  directUrl?: string;
  /**
   * PostgreSQL: with `false`, statements are sent without names, for a transaction pooler that does not support named
   * prepared statements, such as PgBouncer before 1.21. Default: `true`.
   */
  preparedStatements?: boolean;
  /** PostgreSQL: brings the schema up to date. With `false`, an outdated schema is refused. Default: `true`. */
  migrate?: boolean;
  /**
   * How long a worker keeps its jobs without a heartbeat, at least 1 s; then other workers get them. Default: 30 s.
   * Over HTTP the server's value applies.
   */
  lease?: Duration;
  /**
   * How often a worker renews its lease, at most half of `lease`. Default: 5 s, or a third of `lease` if that is less.
   * Over HTTP the server's value applies.
   */
  heartbeat?: Duration;
  /** How often the reaper looks for jobs of lost workers. Default: 10 s, or `lease` if that is less. Refused over HTTP. */
  reapEvery?: Duration;
  /** How long done jobs are kept. Default: 7 days. Refused over HTTP. */
  retentionDone?: Duration;
  /** How long failed, cancelled and skipped jobs are kept. Default: 30 days. Refused over HTTP. */
  retentionFailed?: Duration;
  /** How long the ledger of schedules is kept. Default: 90 days. Refused over HTTP. */
  retentionLedger?: Duration;
  /** How long the audit of changes is kept. Default: 365 days. Refused over HTTP. */
  retentionAudit?: Duration;
  /** How long statistics are kept. Default: 90 days. Refused over HTTP. */
  retentionStats?: Duration;
  /**
   * Called if the worker or the duties of this process have died, which only a fault in Workron or its store can cause:
   * from then on the process does only a part of its work. The application should end. Also logged as an error.
   */
  onError?: (error: Error) => void;
  /** Wraps every submission and every run. The first entry is the outermost. */
  middleware?: readonly Middleware[];
  /** Records OpenTelemetry spans if `@opentelemetry/api` is installed. Default: `true`. */
  tracing?: boolean;
  /**
   * Notifications for every job and schedule, in addition to their own lists. Use the same list in all processes of a
   * database. Refused over HTTP.
   */
  notify?: readonly Notify[];
  /** Signs the bodies of webhooks. */
  notifySecret?: string;
  /**
   * The keys of secrets: 32 bytes in base64, one per line. The first one seals, all of them open. Without it, jobs of this process
   * that name a secret fail. Refused over HTTP: there the server has the keys.
   */
  secretsKey?: string;
  /**
   * Who acts through this object: the name is on the jobs that it submits, and its cancels, retries and changes of schedules are
   * in the audit. Refused over HTTP: there the token says who it is.
   */
  actor?: string;
  /** The URL of this installation's dashboard, for links in notifications. */
  publicUrl?: string;
  /** Private addresses that this process may send webhooks to: `10.0.0.0/8`, `127.0.0.1`, or `all`. Default: none. */
  notifyAllowPrivate?: readonly string[];
}

/**
 * Opens `postgres://…`, `./workron.db` (SQLite), `memory:`, a Workron server at `https://…`, or a store object, which is
 * closed with the Workron. Resolves once the store is open and its tables are up to date.
 */
export async function open(url: string | Store, options: OpenOptions = {}): Promise<Workron> {
  refuseInThread();
  const problem = runtimeProblem(process.versions.node);
  if (problem !== undefined) throw new WorkronError('bad_request', problem);
  const log = logOf(options.log ?? 'warn');
  const traced = (options.tracing ?? true) ? await tracing(version) : null;
  const middleware = [...(traced === null ? [] : [traced]), ...(options.middleware ?? [])];
  const webhooks = webhooksOf(options.notifyAllowPrivate ?? []);
  const { onError } = options;
  return new Workron({ backend: await openBackend(url, options, log), log, middleware, webhooks, onError });
}

const PLACES = 'postgres://…, ./workron.db, memory: or http://…';

/** A pool of another library is no store. */
function isStore(value: unknown): value is Store {
  const store = value as Partial<Store> | null;
  return typeof store?.claim === 'function' && typeof store.settle === 'function' && typeof store.driver === 'string';
}

async function openBackend(url: string | Store, options: OpenOptions, log: Log): Promise<Backend> {
  if (typeof url === 'string' && /^https?:/i.test(url)) {
    refuseServerOptions(options);
    const { openHttpBackend } = await import('./http-backend.ts');
    const { findLocalServer } = await import('../ops/local-server.ts');
    const token = options.token ?? findLocalServer(url)?.token ?? null;
    return openHttpBackend({ url, token, ca: authorityOf(options.ca), log });
  }
  if (typeof url !== 'string' && !isStore(url)) {
    throw new WorkronError('bad_request', `open: expected ${PLACES}, or a store object`);
  }
  const { actorFrom, storeBackend } = await import('./store-backend.ts');
  const actor = actorFrom(options.actor);
  const settings = nodeSettings(options);
  const secretKeys = options.secretsKey === undefined ? null : keysFrom(options.secretsKey);
  const { notify = [], notifySecret = null, publicUrl = null } = options;
  const context = notifyContext({ notify: notifyToWire(notify), notifySecret, publicUrl });
  const node = { settings, log, notify: context, secretKeys };
  if (typeof url !== 'string') return storeBackend(await openNode({ ...node, store: url }), actor);
  const place = storeSettings(url, options);
  const store = await openStore(place, { log, migrate: options.migrate ?? true });
  return storeBackend(await openNode({ ...node, store, place }), actor);
}

export function storeSettings(
  url: string,
  { directUrl, schema, poolSize, preparedStatements }: OpenOptions,
): StoreSettings {
  try {
    return {
      store: chooseStore(url, null),
      dbDirectUrl: directUrl ?? null,
      dbSchema: schema ?? SETTINGS.dbSchema.default,
      dbPool: poolSize ?? SETTINGS.dbPool.default,
      dbPreparedStatements: preparedStatements ?? SETTINGS.dbPreparedStatements.default,
    };
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    throw new WorkronError('bad_request', `${error.message.replace(/^db-url: /, '')}; expected ${PLACES}`);
  }
}

function keysFrom(text: string): KeyRing {
  try {
    return KeyRing.parse(text);
  } catch (error) {
    throw new WorkronError('bad_request', `secretsKey: ${(error as Error).message}`);
  }
}

function authorityOf(ca: string | undefined): string | null {
  if (ca === undefined) return null;
  if (isAuthority(ca)) return ca;
  throw new WorkronError('bad_request', `ca: ${AUTHORITY_EXPECTED}`);
}

function webhooksOf(allowPrivate: readonly string[]): Handler {
  try {
    return webhooksTo(allowPrivate);
  } catch {
    const expected = 'networks such as 10.0.0.0/8, single addresses, or all';
    throw new WorkronError('bad_request', `notifyAllowPrivate: expected ${expected}, got ${allowPrivate.join(', ')}`);
  }
}

function logOf(wanted: LogLevel | 'silent' | Log): Log {
  if (wanted === 'silent') return silentLog;
  return typeof wanted === 'string' ? createLog(wanted) : wanted;
}
