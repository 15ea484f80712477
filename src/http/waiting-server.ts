/** Answers on the API's address while the database cannot be opened: alive, not ready, and why. */

import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Health, Readiness } from '../api/health.ts';
import { PROBLEM_TYPE, problemFrom } from '../api/problem.ts';
import { routes } from '../api/routes.ts';
import { WorkronError } from '../core/error.ts';
import { http } from '../ops/node-http.ts';
import { errorHeaders } from './problem-reply.ts';
import type { ServerCertificate } from './server-certificate.ts';
import { urlOf } from './url-of.ts';

interface WaitingServerOptions {
  host: string;
  /** 0 takes a free one. */
  port: number;
  health: Pick<Health, 'instance_id' | 'version' | 'driver'>;
  /** Why there is no database yet. */
  problem: () => string;
  certificate: ServerCertificate | null;
}

interface WaitingServer {
  url: string;
  port: number;
  close(): Promise<void>;
}

export async function startWaitingServer({
  host,
  port,
  health,
  problem,
  certificate,
}: WaitingServerOptions): Promise<WaitingServer> {
  const startedAt = performance.now();
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    const path = (request.url ?? '/').split('?', 1)[0];
    if (path === routes.readHealth.path) {
      const uptime = Math.floor((performance.now() - startedAt) / 1_000);
      return send(response, 200, { ...health, status: 'ok', uptime_seconds: uptime, stuck: [] } satisfies Health);
    }
    if (path === routes.readReady.path) {
      return send(response, 503, { ready: false, problems: [problem()] } satisfies Readiness);
    }
    const error = new WorkronError('store_unavailable', problem(), { retryAfterMs: 1_000 });
    send(response, 503, problemFrom(error, randomUUID()), { ...errorHeaders(error), 'content-type': PROBLEM_TYPE });
  };
  const server = certificate?.createServer({}, answer) ?? http.createServer(answer);
  server.listen(port, host);
  await once(server, 'listening');
  const bound = server.address() as AddressInfo;
  return {
    url: urlOf(certificate, host, bound.port),
    port: bound.port,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

function send(response: ServerResponse, status: number, json: object, headers: Record<string, string> = {}): void {
  response
    .writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store', ...headers })
    .end(JSON.stringify(json));
}
