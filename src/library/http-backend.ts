import { Client } from '../api/client.ts';
import { WorkronError } from '../core/error.ts';
import { version } from '../node/version.ts';
import type { Log } from '../ops/log.ts';
import { httpSource } from '../worker/http-source.ts';
import type { Backend } from './backend.ts';
import { httpEngine } from './http-engine.ts';

export interface HttpHomeOptions {
  url: string;
  token: string | null;
  log: Log;
}

/** Nothing is asked of the scheduler until something is submitted or started. */
export function openHttpBackend({ url, token, log }: HttpHomeOptions): Backend {
  return {
    engine: httpEngine(new Client({ url, token })),
    source: () => httpSource({ urls: [url], token, log, version }),
    runDuties: () => Promise.resolve(),
    mount: () => Promise.reject(new WorkronError('bad_request', 'A Workron elsewhere has an API of its own')),
    drain: () => undefined,
    close: () => Promise.resolve(),
  };
}
