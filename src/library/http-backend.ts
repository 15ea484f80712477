/** A backend on a Workron server behind HTTP. */

import { Client } from '../api/client.ts';
import { WorkronError } from '../core/error.ts';
import { version } from '../node/version.ts';
import type { Log } from '../ops/log.ts';
import { httpSource } from '../worker/http-source.ts';
import type { Backend } from './backend.ts';
import { httpEngine } from './http-engine.ts';

export interface HttpBackendOptions {
  url: string;
  token: string | null;
  log: Log;
}

/** Sends nothing to the server until something is submitted or started. */
export function openHttpBackend({ url, token, log }: HttpBackendOptions): Backend {
  return {
    engine: httpEngine(new Client({ url, token })),
    source: () => httpSource({ urls: [url], token, log, version }),
    runDuties: () => Promise.resolve(),
    mount: () => Promise.reject(new WorkronError('bad_request', NO_MOUNT)),
    drain: () => undefined,
    close: () => Promise.resolve(),
  };
}

const NO_MOUNT = 'mount() needs a local store; the remote server already serves the API';
