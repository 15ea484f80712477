/**
 * Every web page that a user opens can reach a server on the user's machine, and this one runs commands. So requests
 * from pages of other origins are refused, and without a token also requests under a foreign host name (DNS rebinding).
 */

import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { WorkronError } from '../core/error.ts';

const LOCAL_HOSTS = ['localhost', '127.0.0.1', '[::1]'];

/** Throws `forbidden` unless the Host is a name of this machine or in `allowedHosts`. */
export function checkHost(headers: IncomingHttpHeaders, allowedHosts: readonly string[]): void {
  const host = hostName(headers.host ?? '');
  if (host !== undefined && (LOCAL_HOSTS.includes(host) || isAllowed(host, allowedHosts))) return;
  throw new WorkronError(
    'forbidden',
    `Refused for the Host ${JSON.stringify(headers.host ?? '')}: use localhost, name it with --allowed-host, or set a token`,
  );
}

/**
 * True if a browser opens the page in a tab of its own, as by a link in a mail. The page contains no data, and the other
 * site cannot read it: its own requests are checked as all others.
 */
export function isNavigation(headers: IncomingHttpHeaders): boolean {
  return (
    headers.origin === undefined && headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document'
  );
}

/**
 * Throws `bad_request` for a request that names its host in more than one way: a proxy in front may have checked another
 * one.
 */
export function checkTarget({ url = '', rawHeaders }: IncomingMessage): void {
  const hosts = rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'host');
  if (hosts.length > 1) throw new WorkronError('bad_request', 'A request has one Host header');
  if (!url.startsWith('/')) throw new WorkronError('bad_request', 'A request target is a path, not an absolute URL');
}

/** Throws `forbidden` if a page of another origin caused the request. */
export function checkOrigin(
  { method, headers }: Pick<IncomingMessage, 'method' | 'headers'>,
  allowedHosts: readonly string[],
): void {
  const { origin, 'sec-fetch-site': site } = headers;
  // Another port of this machine is the same site, and another origin.
  const isForm = site === 'same-site' && origin === undefined && method !== 'GET' && method !== 'HEAD';
  if (site === 'cross-site' || isForm) {
    throw new WorkronError('forbidden', 'Refused: the request comes from a page of another site');
  }
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

/** Returns the name without its port, in lower case; `undefined` if it is malformed. */
function hostName(host: string): string | undefined {
  return /^(\[[0-9a-f:.]+\]|[^:@/\s]+?)\.?(:\d{1,5})?$/i.exec(host)?.[1]?.toLowerCase();
}
