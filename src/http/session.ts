/**
 * The session of a dashboard in its requests: a cookie that no script can read, and a key that the page keeps and sends in a
 * header. Browsers send a cookie to every port of a host, so another server of the machine could replay it; the key they give to
 * the page's own origin only.
 */

import { createHmac } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { SESSION_HEADER } from '../api/session.ts';
import { SESSION_LIFE_MS, type SessionHalves } from '../scheduler/access/sessions.ts';

/** Returns the two halves that a request has; `undefined` if one is missing. */
export function sessionIn(headers: IncomingHttpHeaders, token: string): SessionHalves | undefined {
  const key = headers[SESSION_HEADER];
  const cookie = cookieIn(headers, token);
  return typeof key === 'string' && cookie !== undefined ? { key, cookie } : undefined;
}

function cookieIn(headers: IncomingHttpHeaders, token: string): string | undefined {
  const name = cookieName(token);
  for (const part of (headers.cookie ?? '').split(';')) {
    const [key, value] = part.trim().split('=', 2);
    if (key === name) return value;
  }
  return undefined;
}

/** The `set-cookie` that opens a session. */
export function sessionCookie(token: string, value: string, isEncrypted: boolean): string {
  return cookie(token, value, SESSION_LIFE_MS / 1_000, isEncrypted);
}

/** The `set-cookie` that deletes the session's. */
export function noSessionCookie(token: string, isEncrypted: boolean): string {
  return cookie(token, '', 0, isEncrypted);
}

/** Browsers share cookies between the ports of a machine, so the name depends on the token. */
function cookieName(token: string): string {
  return `workron_${createHmac('sha256', token).update('workron session name').digest('base64url').slice(0, 8)}`;
}

function cookie(token: string, value: string, maxAge: number, isEncrypted: boolean): string {
  const secure = isEncrypted ? '; Secure' : '';
  return `${cookieName(token)}=${value}; Path=/; Max-Age=${maxAge}; HttpOnly; SameSite=Strict${secure}`;
}
