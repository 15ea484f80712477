/** What `open` does once the runtime is known to be new enough. */

import { WorkronError } from '../core/error.ts';
import { socketIn } from '../core/socket-address.ts';
import { notifyContext, openNode } from '../node/node.ts';
import { openStore, type StoreSettings } from '../node/open-store.ts';
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
import { notifyToWire } from './notify.ts';
import type { OpenOptions } from './open.ts';
import { nodeSettings, refuseServerOptions } from './settings.ts';
import { tracing } from './tracing.ts';
import { Workron } from './workron.ts';

export async function openWorkron(url: string | Store, options: OpenOptions): Promise<Workron> {
  refuseInThread();
  const log = logOf(options.log ?? 'warn');
  const traced = (options.tracing ?? true) ? await tracing(version) : null;
  const middleware = [...(traced === null ? [] : [traced]), ...(options.middleware ?? [])];
  const webhooks = webhooksOf(options.notifyAllowPrivate ?? []);
  const { onError } = options;
  return new Workron({ backend: await openBackend(url, options, log), log, middleware, webhooks, onError });
}

const PLACES = 'postgres://…, ./workron.db, memory:, http://… or unix:/…';

/** A pool of another library is no store. */
function isStore(value: unknown): value is Store {
  const store = value as Partial<Store> | null;
  return typeof store?.claim === 'function' && typeof store.settle === 'function' && typeof store.driver === 'string';
}

async function openBackend(url: string | Store, options: OpenOptions, log: Log): Promise<Backend> {
  if (typeof url === 'string' && (/^https?:/i.test(url) || socketIn(url) !== undefined)) {
    refuseServerOptions(options);
    const { openHttpBackend } = await import('./http-backend.ts');
    const { safestAccess } = await import('../ops/local-server.ts');
    return openHttpBackend({ ...safestAccess(url, options.token ?? null), ca: authorityOf(options.ca), log });
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
