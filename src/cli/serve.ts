/** Runs the roles that a process was given until a signal ends it. */

import { once } from 'node:events';
import { dirname } from 'node:path';
import { countText } from '../api/count-text.ts';
import { isWorkronError } from '../core/error.ts';
import type { ServerCertificate } from '../http/server-certificate.ts';
import type { Backend } from '../library/backend.ts';
import { isolationOf } from '../node/isolation.ts';
import { notifyContext, openNode, type WorkronNode } from '../node/node.ts';
import { secretKeysOf } from '../node/secret-keys.ts';
import { version } from '../node/version.ts';
import { readAuthority } from '../ops/authority.ts';
import { safestAccess } from '../ops/local-server.ts';
import type { Log } from '../ops/log.ts';
import type { Metrics } from '../ops/metrics.ts';
import { prepareSocket } from '../ops/private-socket.ts';
import type { Role, Settings } from '../ops/settings/settings.ts';
import type { NotifyContext } from '../scheduler/notify/targets.ts';
import { DEFAULT_ISOLATION, type Isolation } from '../worker/command/isolation.ts';
import type { JobSource } from '../worker/job-source.ts';
import type { Handlers } from '../worker/run/handler-executor.ts';
import { banner } from './banner.ts';
import { usageError } from './errors/cli-error.ts';
import { orUsageError } from './flags/setting.ts';
import { quote } from './input/shell-line.ts';
import { type LocalAccess, openLocalAccess } from './local-access.ts';
import { ownLog } from './output/terminal-log.ts';
import { hideMemory } from './secrets.ts';
import { listenForShutdown, type Shutdown } from './shutdown.ts';
import { waitForStore } from './wait-for-store.ts';

/** Resolves with the exit code once everything has ended. */
export async function serve(settings: Settings, roles: readonly Role[]): Promise<number> {
  await hideMemory();
  const log = ownLog(settings.logLevel);
  const isolation = roles.includes('worker') ? await isolationFrom(settings) : DEFAULT_ISOLATION;
  using shutdown = listenForShutdown(log);
  const worksRemotely = roles.length === 1 && roles[0] === 'worker' && settings.schedulerUrls.length > 0;
  const isWell = await (worksRemotely
    ? serveRemoteWorker(settings, { isolation, log, shutdown })
    : serveWithStore(settings, roles, { isolation, log, shutdown }));
  return isWell ? 0 : 1;
}

interface Process {
  isolation: Isolation;
  log: Log;
  shutdown: Shutdown;
}

async function serveRemoteWorker(settings: Settings, { isolation, log, shutdown }: Process): Promise<boolean> {
  const { httpSource } = await import('../worker/http-source.ts');
  const ca = orUsageError(() => readAuthority(settings.ca));
  const access = schedulerAccess(settings);
  await using source = httpSource({ ...access, ca, log, version });
  const addresses = settings.schedulerUrls.join(', ');
  process.stdout.write(`Workron worker: ${countText(settings.workers, 'slot')} for ${addresses}\n`);
  const handlers = await remoteHandlers(settings, access);
  await runWorker({ source, staysDrained: false, handlers, settings, isolation, log, shutdown });
  return true;
}

interface SchedulerAccess {
  urls: readonly string[];
  token: string | null;
}

/** The schedulers and the token for them; without one, those of servers of this user on this machine. */
function schedulerAccess({ token, schedulerUrls }: Settings): SchedulerAccess {
  const each = schedulerUrls.map((url) => safestAccess(url, token));
  return { urls: each.map(({ url }) => url), token: each.find((access) => access.token !== null)?.token ?? null };
}

/** Handlers that submit further jobs over HTTP. */
async function remoteHandlers({ handlers, ca }: Settings, { urls, token }: SchedulerAccess): Promise<Handlers> {
  const [url] = urls;
  if (handlers.length === 0) return {};
  const [{ httpClient, httpEngine }, { loadHandlers }] = await Promise.all([
    import('../library/http-backend.ts'),
    import('../library/load-handlers.ts'),
  ]);
  const client = httpClient({ url: url as string, token, ca: readAuthority(ca) });
  return loadHandlers(handlers, httpEngine(client));
}

/** Resolves with false if the process ended because its duties have died. */
async function serveWithStore(
  settings: Settings,
  roles: readonly Role[],
  { isolation, log, shutdown }: Process,
): Promise<boolean> {
  if (roles.includes('api')) {
    const { assertSafeBind } = await import('../http/safe-bind.ts');
    assertSafeBind(settings.host, settings.token);
    await prepareOwnSocket(settings);
  }
  using certificate = roles.includes('api') ? await certificateOf(settings, log) : null;
  const notify = notifyOf(settings);
  const secretKeys = secretKeysOf(settings);
  const opened = await waitForStore(settings, { roles, certificate, log, signal: shutdown.drain });
  if (opened === undefined) return true;
  const { store, port } = opened;
  const node = await openNode({ store, settings, log, notify, secretKeys, place: settings, sweepOrphans: isolation });
  const backend = settings.handlers.length === 0 ? null : await backendOf(node);
  let isWell: boolean;
  try {
    const process = { isolation, log, shutdown };
    isWell = await runNode({ node, backend, certificate, settings: { ...settings, port }, roles, ...process });
  } finally {
    await (backend ?? node).close();
  }
  log.info({ instance_id: node.instanceId }, 'stopped');
  return isWell;
}

/** Handlers use the node as an application does. Without handlers the library is not loaded. */
async function backendOf(node: WorkronNode): Promise<Backend> {
  const { storeBackend } = await import('../library/store-backend.ts');
  return storeBackend(node);
}

async function localHandlers({ handlers }: Settings, { engine }: Backend): Promise<Handlers> {
  const { loadHandlers } = await import('../library/load-handlers.ts');
  return loadHandlers(handlers, engine);
}

interface NodeProcess extends Process {
  node: WorkronNode;
  /** `null` if the process has no handlers. */
  backend: Backend | null;
  certificate: ServerCertificate | null;
  settings: Settings;
  roles: readonly Role[];
}

async function runNode(options: NodeProcess): Promise<boolean> {
  const { node, backend, certificate, settings, roles, isolation, log, shutdown } = options;
  const { instanceId, store } = node;
  using access = roles.includes('api') ? openLocalAccess(settings) : null;
  const link = roles.includes('api') ? await listen(options, access) : null;
  if (settings.insecureNoToken && settings.token === null && roles.includes('api')) {
    log.warn({ url: node.url }, 'no token is needed: every user of this machine can run commands as this one');
  }
  let isWell = true;
  node.runRoles(roles).catch((error: unknown) => {
    isWell = false;
    log.error({ error, instance_id: instanceId }, 'the duties of this process have died; shutting down');
    shutdown.begin();
  });
  const tls = certificate?.summary ?? null;
  process.stdout.write(banner({ settings, roles, url: node.url, location: store.location, link, tls }));
  const about = { roles, store: store.driver, location: store.location, url: node.url ?? undefined };
  log.info({ instance_id: instanceId, ...about }, 'started');
  shutdown.drain.addEventListener('abort', () => node.drain());
  const staysDrained = roles.some((role) => role !== 'worker');
  if (roles.includes('worker')) {
    const handlers = backend === null ? {} : await localHandlers(settings, backend);
    const source = (backend ?? node).source();
    await runWorker({ source, staysDrained, handlers, settings, isolation, log, shutdown, metrics: node.metrics });
  }
  if (staysDrained && !shutdown.drain.aborted) await once(shutdown.drain, 'abort');
  return isWell;
}

/** Returns the path of a link to the dashboard, if the server has made its token itself. */
async function listen(
  { node, settings, certificate }: NodeProcess,
  access: LocalAccess | null,
): Promise<string | null> {
  const api = await node.listen({ ...settings, token: settings.token ?? access?.token ?? null, certificate });
  await prepareOwnSocket(settings);
  if (settings.socket !== null) await api.listenOn(settings.socket, { needsToken: true });
  if (access === null) return null;
  const socket = access.publish(api);
  if (socket !== null) await api.listenOn(socket, { needsToken: false });
  return await api.loginPath();
}

/** Checked before anything is opened, and again when the server listens: another may have started in between. */
async function prepareOwnSocket({ socket }: Settings): Promise<void> {
  if (socket === null) return;
  try {
    await prepareSocket(socket);
  } catch (error) {
    throw usageError(
      `socket: ${(error as Error).message}`,
      `its folder must belong to the user of this server, who alone may write to it: install -d -m 755 ${quote(dirname(socket))}`,
    );
  }
}

/** `null` for a server that speaks plain HTTP. */
async function certificateOf({ tlsCert, tlsKey }: Settings, log: Log): Promise<ServerCertificate | null> {
  if (tlsCert === null || tlsKey === null) return null;
  const { ServerCertificate } = await import('../http/server-certificate.ts');
  return orUsageError(() => new ServerCertificate({ cert: tlsCert, key: tlsKey }, log));
}

async function isolationFrom(settings: Settings): Promise<Isolation> {
  try {
    return await isolationOf(settings);
  } catch (error) {
    throw usageError((error as Error).message);
  }
}

function notifyOf(settings: Settings): NotifyContext {
  try {
    return notifyContext(settings);
  } catch (error) {
    if (isWorkronError(error)) throw usageError(`notify: ${error.message}`);
    throw error;
  }
}

interface WorkerProcess extends Process {
  source: JobSource;
  staysDrained: boolean;
  handlers: Handlers;
  settings: Settings;
  metrics?: Metrics;
}

/** Works until a first signal, then drains the worker. A second signal stops the jobs that still run. */
async function runWorker(options: WorkerProcess): Promise<void> {
  const { source, staysDrained, handlers, settings, isolation, log, shutdown, metrics } = options;
  const { createWorker, drainWorker, webhooksTo } = await import('../node/worker.ts');
  const { workers: slots, queues, tags, resources, workerName: name } = settings;
  const worker = createWorker({
    source,
    log,
    name,
    slots,
    queues,
    commands: true,
    tags,
    resources,
    isolation,
    staysDrained,
    handlers,
    webhooks: webhooksTo(settings.notifyAllowPrivate),
    metrics,
  });
  shutdown.stop.addEventListener('abort', () => void worker.stop(), { once: true });
  const running = worker.run();
  if (!shutdown.drain.aborted) await Promise.race([once(shutdown.drain, 'abort'), running]);
  await drainWorker(worker, settings.drainTimeoutMs);
  await running;
}
