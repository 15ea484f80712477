/**
 * The session of a dashboard in its requests: a cookie that no script can read, and a key that the page keeps and sends in a
 * header. Browsers send a cookie to every port of a host, so another server of the machine could replay it; the key they give to
 * the page's own origin only.
 */

import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { SESSION_HEADER } from '../api/session.ts';
import { SESSION_LIFE_MS, type SessionHalves } from '../scheduler/access/sessions.ts';

/**
 * The key begins with the name of the cookie. Browsers share cookies between the ports of a machine, so each page has a name of
 * its own, by chance: it reveals nothing, and every scheduler of an installation finds the cookie.
 */
const KEY = /^([\w-]{8})\.([\w-]+)$/;
/** A browser takes such a cookie only over https, and only from this host. */
const HOST_PREFIX = '__Host-';

/** Returns the two halves that a request has; `undefined` if one is missing. */
export function sessionIn(headers: IncomingHttpHeaders): SessionHalves | undefined {
  const key = headers[SESSION_HEADER];
  const name = nameIn(headers);
  const cookie = name === undefined ? undefined : cookieIn(headers, name);
  return typeof key === 'string' && cookie !== undefined ? { key, cookie } : undefined;
}

/** The name of the cookie that belongs to the key of a request; `undefined` if it has none. */
function nameIn(headers: IncomingHttpHeaders): string | undefined {
  const key = headers[SESSION_HEADER];
  return typeof key === 'string' ? KEY.exec(key)?.[1] : undefined;
}

function cookieIn(headers: IncomingHttpHeaders, name: string): string | undefined {
  for (const part of (headers.cookie ?? '').split(';')) {
    const [key, value] = part.trim().split('=', 2);
    if (key === cookieName(name, true) || key === cookieName(name, false)) return value;
  }
  return undefined;
}

/** A name for the cookie of a new session: that of the page's last one, which the new one replaces. */
export function newCookieName(headers: IncomingHttpHeaders): string {
  return nameIn(headers) ?? randomBytes(6).toString('base64url');
}

/** The `set-cookie` that opens a session. */
export function sessionCookie({ cookie, key }: SessionHalves, isEncrypted: boolean): string {
  return setCookie(KEY.exec(key)?.[1] ?? '', cookie, SESSION_LIFE_MS / 1_000, isEncrypted);
}

/** The `set-cookie` that deletes the session's; `undefined` if the request has no key. */
export function noSessionCookie(headers: IncomingHttpHeaders, isEncrypted: boolean): string | undefined {
  const name = nameIn(headers);
  return name === undefined ? undefined : setCookie(name, '', 0, isEncrypted);
}

function cookieName(name: string, isEncrypted: boolean): string {
  return `${isEncrypted ? HOST_PREFIX : ''}workron_${name}`;
}

function setCookie(name: string, value: string, maxAge: number, isEncrypted: boolean): string {
  const secure = isEncrypted ? '; Secure' : '';
  return `${cookieName(name, isEncrypted)}=${value}; Path=/; Max-Age=${maxAge}; HttpOnly; SameSite=Strict${secure}`;
}
