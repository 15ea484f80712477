/** Opens a Workron by the URL of its store or server. */

import { WorkronError } from '../core/error.ts';
import { runtimeProblem } from '../node/runtime.ts';
import type { Log } from '../ops/log.ts';
import type { LogLevel } from '../ops/log-level.ts';
import type { Store } from '../store/store.ts';
import type { Middleware } from './middleware.ts';
import type { Notify } from './notify.ts';
import type { Duration } from './options.ts';
import type { Workron } from './workron.ts';

export interface OpenOptions {
  /** HTTP: the server's token. Not needed for a server on this machine that this user started without one. */
  token?: string | undefined;
  /**
   * HTTP: the certificates, in PEM format, of the only authorities that are trusted for a server at `https://…`. Default: the public
   * ones.
   */
  ca?: string | undefined;
  /** Workron's own log: a level for JSON lines on stderr, a logger of the application, or `silent`. Default: `warn`. */
  log?: LogLevel | 'silent' | Log | undefined;
  /** PostgreSQL: the schema that holds the tables. Default: `workron`. */
  schema?: string | undefined;
  /** PostgreSQL: the number of connections in the pool. Default: 10. Workers and wake-ups use two more. */
  poolSize?: number | undefined;
  /** PostgreSQL: a URL that bypasses a transaction pooler, for session locks and notifications. Default: the same URL. */
  directUrl?: string | undefined;
  /**
   * PostgreSQL: with `false`, statements are sent without names, for a transaction pooler that does not support named
   * prepared statements, such as PgBouncer before 1.21. Default: `true`.
   */
  preparedStatements?: boolean | undefined;
  /** PostgreSQL: brings the schema up to date. With `false`, an outdated schema is refused. Default: `true`. */
  migrate?: boolean | undefined;
  /**
   * How long a worker keeps its jobs without a heartbeat, at least 1 s; then other workers get them. Default: 30 s.
   * Over HTTP the server's value applies.
   */
  lease?: Duration | undefined;
  /**
   * How often a worker renews its lease, at most half of `lease`. Default: 5 s, or a third of `lease` if that is less.
   * Over HTTP the server's value applies.
   */
  heartbeat?: Duration | undefined;
  /** How often the reaper looks for jobs of lost workers. Default: 10 s, or `lease` if that is less. Refused over HTTP. */
  reapEvery?: Duration | undefined;
  /** How long done jobs are kept. Default: 7 days. Refused over HTTP. */
  retentionDone?: Duration | undefined;
  /** How long failed, cancelled and skipped jobs are kept. Default: 30 days. Refused over HTTP. */
  retentionFailed?: Duration | undefined;
  /** How long the ledger of schedules is kept. Default: 90 days. Refused over HTTP. */
  retentionLedger?: Duration | undefined;
  /** How long the audit of changes is kept. Default: 365 days. Refused over HTTP. */
  retentionAudit?: Duration | undefined;
  /** How long statistics are kept. Default: 90 days. Refused over HTTP. */
  retentionStats?: Duration | undefined;
  /**
   * Called if the worker or the duties of this process have died, which only a fault in Workron or its store can cause:
   * from then on the process does only a part of its work. The application should end. Also logged as an error.
   */
  onError?: ((error: Error) => void) | undefined;
  /** Wraps every submission and every run. The first entry is the outermost. */
  middleware?: readonly Middleware[] | undefined;
  /** Records OpenTelemetry spans if `@opentelemetry/api` is installed. Default: `true`. */
  tracing?: boolean | undefined;
  /**
   * Notifications for every job and schedule, in addition to their own lists. Use the same list in all processes of a
   * database. Refused over HTTP.
   */
  notify?: readonly Notify[] | undefined;
  /** Signs the bodies of webhooks. */
  notifySecret?: string | undefined;
  /**
   * The keys of secrets: 32 bytes in base64, one per line. The first one seals, all of them open. Without it, jobs of this process
   * that name a secret fail. Refused over HTTP: there the server has the keys.
   */
  secretsKey?: string | undefined;
  /**
   * Who acts through this object: the name is on the jobs that it submits, and what it decides is in the
   * audit: cancels, retries, changes of schedules and queues. Refused over HTTP: there the token says who it is.
   */
  actor?: string | undefined;
  /** The URL of this installation's dashboard, for links in notifications. */
  publicUrl?: string | undefined;
  /** Private addresses that this process may send webhooks to: `10.0.0.0/8`, `127.0.0.1`, or `all`. Default: none. */
  notifyAllowPrivate?: readonly string[] | undefined;
}

/**
 * Opens `postgres://…`, `./workron.db` (SQLite), `memory:`, a Workron server at `https://…`, or a store object, which is
 * closed with the Workron. Resolves once the store is open and its tables are up to date.
 */
export async function open(url: string | Store, options: OpenOptions = {}): Promise<Workron> {
  const problem = runtimeProblem(process.versions.node);
  if (problem !== undefined) throw new WorkronError('bad_request', problem);
  // Loaded here, so that a program which only declares jobs starts fast.
  const { openWorkron } = await import('./open-workron.ts');
  return await openWorkron(url, options);
}
