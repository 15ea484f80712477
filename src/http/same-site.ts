/**
 * A server that runs commands is reachable from every web page its user opens. So a request that a page of another
 * origin caused is refused, and without a token also one that reached us under a foreign name (DNS rebinding).
 */

import type { IncomingHttpHeaders } from 'node:http';
import { WorkronError } from '../core/error.ts';

const LOCAL_HOSTS = ['localhost', '127.0.0.1', '[::1]'];

/** Throws `forbidden` unless the Host is this machine's own or one that was allowed. */
export function checkHost(headers: IncomingHttpHeaders, allowedHosts: readonly string[]): void {
  const host = hostName(headers.host ?? '');
  if (host !== undefined && (LOCAL_HOSTS.includes(host) || isAllowed(host, allowedHosts))) return;
  throw new WorkronError(
    'forbidden',
    `Refused for the Host ${JSON.stringify(headers.host ?? '')}: use localhost, name it with --allowed-host, or set a token`,
  );
}

/** Throws `forbidden` for what a page of another origin caused. */
export function checkOrigin(headers: IncomingHttpHeaders, allowedHosts: readonly string[]): void {
  if (headers['sec-fetch-site'] === 'cross-site') {
    throw new WorkronError('forbidden', 'Refused: the request comes from a page of another site');
  }
  const { origin } = headers;
  if (origin === undefined || isOwnOrigin(origin, headers.host ?? '', allowedHosts)) return;
  throw new WorkronError('forbidden', `Refused: the request comes from a page of ${JSON.stringify(origin)}`);
}

function isOwnOrigin(origin: string, host: string, allowedHosts: readonly string[]): boolean {
  const match = /^https?:\/\/([^/]+)$/i.exec(origin);
  if (match?.[1] === undefined) return false;
  const originHost = match[1].toLowerCase();
  if (originHost === host.toLowerCase()) return true;
  const name = hostName(originHost);
  return name !== undefined && isAllowed(name, allowedHosts);
}

function isAllowed(host: string, allowedHosts: readonly string[]): boolean {
  return allowedHosts.some((allowed) => allowed.toLowerCase() === host);
}

/** The name without its port, in lower case; `undefined` where it is none. */
function hostName(host: string): string | undefined {
  return /^(\[[0-9a-f:.]+\]|[^:@/\s]+?)\.?(:\d{1,5})?$/i.exec(host)?.[1]?.toLowerCase();
}
