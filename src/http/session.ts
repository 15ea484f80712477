/**
 * Sessions of the dashboard: a cookie that proves knowledge of the token without containing it. The server stores nothing:
 * the cookie is an expiry time signed with the token, so it is valid on every instance and across restarts, and becomes
 * invalid when the token changes.
 */

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

const LIFE_MS = 7 * 24 * 3_600_000;

/** Returns the `set-cookie` that opens a session. */
export function openSession(token: string, now: number, headers: IncomingHttpHeaders): string {
  const payload = `${now + LIFE_MS}.${randomBytes(12).toString('base64url')}`;
  return cookie(token, `${payload}.${sign(token, payload)}`, LIFE_MS / 1_000, headers);
}

/** Returns the `set-cookie` that deletes the session. */
export function endSession(token: string, headers: IncomingHttpHeaders): string {
  return cookie(token, '', 0, headers);
}

/** True if the request has an unexpired session for this token. */
export function hasSession(headers: IncomingHttpHeaders, token: string, now: number): boolean {
  const name = cookieName(token);
  for (const part of (headers.cookie ?? '').split(';')) {
    const [key, value = ''] = part.trim().split('=', 2);
    if (key !== name) continue;
    const match = /^((\d{1,15})\.[\w-]{16})\.([\w-]{43})$/.exec(value);
    if (match === null) continue;
    const [, payload = '', expires, signature = ''] = match;
    const genuine = timingSafeEqual(Buffer.from(sign(token, payload)), Buffer.from(signature));
    if (genuine && Number(expires) > now) return true;
  }
  return false;
}

/** Browsers share cookies between the ports of a machine, so the name depends on the token. */
function cookieName(token: string): string {
  return `workron_${sign(token, 'name').slice(0, 8)}`;
}

function cookie(token: string, value: string, maxAge: number, headers: IncomingHttpHeaders): string {
  const secure = headers['x-forwarded-proto'] === 'https' ? '; Secure' : '';
  return `${cookieName(token)}=${value}; Path=/; Max-Age=${maxAge}; HttpOnly; SameSite=Strict${secure}`;
}

function sign(token: string, text: string): string {
  return createHmac('sha256', token).update(`workron session ${text}`).digest('base64url');
}
