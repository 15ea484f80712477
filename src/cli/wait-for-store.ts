/** Opens the store of a server process. While the database is away, the process waits, and its API says why. */

import { isWorkronError } from '../core/error.ts';
import type { ServerCertificate } from '../http/server-certificate.ts';
import { newInstanceId } from '../node/instance-id.ts';
import { openStore } from '../node/open-store.ts';
import { version } from '../node/version.ts';
import type { Log } from '../ops/log.ts';
import type { Role, Settings } from '../ops/settings/settings.ts';
import type { Store } from '../store/store.ts';

interface Waiting {
  roles: readonly Role[];
  certificate: ServerCertificate | null;
  log: Log;
  /** Ends the wait. */
  signal: AbortSignal;
}

interface Opened {
  store: Store;
  /** The port of the API, which is taken already if it was to be any free one. */
  port: number;
}

/** Returns `undefined` if the signal ended the wait. */
export async function waitForStore(settings: Settings, options: Waiting): Promise<Opened | undefined> {
  const { roles, certificate, log, signal } = options;
  const api = roles.includes('api') ? new WaitingApi(settings, certificate) : undefined;
  try {
    const store = await openStore(settings, {
      log,
      // Several schedulers may migrate at once. Processes without this role wait until one has.
      migrate: roles.includes('scheduler'),
      waitUntil: signal,
      onWaiting: (reason) => api?.say(reason),
    });
    return { store, port: (await api?.close()) ?? settings.port };
  } catch (error) {
    await api?.close();
    if (signal.aborted && isWorkronError(error) && error.retryable) return undefined;
    throw error;
  }
}

/** The API's address during the wait. It listens from the first thing that there is to say. */
class WaitingApi {
  readonly #settings: Settings;
  readonly #certificate: ServerCertificate | null;
  #problem = '';
  #server: { port: number; close(): Promise<void> } | undefined;

  constructor(settings: Settings, certificate: ServerCertificate | null) {
    this.#settings = settings;
    this.#certificate = certificate;
  }

  async say(reason: string): Promise<void> {
    this.#problem = `waiting for the database: ${reason}`;
    if (this.#server !== undefined) return;
    const { startWaitingServer } = await import('../http/waiting-server.ts');
    const { host, port, store } = this.#settings;
    const server = await startWaitingServer({
      host,
      port,
      health: { instance_id: newInstanceId(), version, driver: store.driver },
      problem: () => this.#problem,
      certificate: this.#certificate,
    });
    this.#server = server;
    process.stdout.write(`Workron waits for its database; ${server.url}/ready says why\n`);
  }

  /** Returns the port that it had. */
  async close(): Promise<number | undefined> {
    await this.#server?.close();
    return this.#server?.port;
  }
}
