/**
 * The page's session: a cookie that proves knowledge of the token without holding it. Nothing is stored: it is an
 * expiry signed with the token, so it holds on every instance and over restarts, and ends when the token changes.
 */

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

const LIFE_MS = 7 * 24 * 3_600_000;

/** A `set-cookie` that opens a session. */
export function openSession(token: string, now: number, headers: IncomingHttpHeaders): string {
  const payload = `${now + LIFE_MS}.${randomBytes(12).toString('base64url')}`;
  return cookie(token, `${payload}.${sign(token, payload)}`, LIFE_MS / 1_000, headers);
}

/** A `set-cookie` that makes the browser forget it. */
export function endSession(token: string, headers: IncomingHttpHeaders): string {
  return cookie(token, '', 0, headers);
}

/** Whether the request carries a session of this token that is not over. */
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

/** Browsers share cookies between the ports of a machine, so each token has a name of its own. */
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
