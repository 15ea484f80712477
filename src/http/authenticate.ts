/** Who is calling, and what they may do. */

import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { WorkronError } from '../core/error.ts';
import { hasSession } from './session.ts';

export const SCOPES = ['read', 'submit', 'operate', 'admin', 'work'] as const;
export type Scope = (typeof SCOPES)[number];

export interface Principal {
  name: string;
  /** Tells callers apart without giving their token away. */
  id: string;
  scopes: readonly Scope[];
}

const EVERYBODY: Principal = { name: 'local', id: '-', scopes: SCOPES };

/**
 * The caller, by its `Authorization: Bearer` or the page's session where the server has a token; else `unauthorized`.
 * A session counts only for what the page itself sends: browsers add cookies to requests of their own accord.
 */
export function authenticate(headers: IncomingHttpHeaders, token: string | null, now: number): Principal {
  if (token === null) return EVERYBODY;
  const expected = digest(token);
  const principal: Principal = { name: 'token', id: expected.toString('base64url').slice(0, 16), scopes: SCOPES };
  if (headers.authorization === undefined && fromPage(headers) && hasSession(headers, token, now)) return principal;
  const given = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1];
  if (given === undefined) {
    throw new WorkronError('unauthorized', 'This server needs a token: send Authorization: Bearer <token>');
  }
  if (!timingSafeEqual(digest(given), expected)) throw new WorkronError('unauthorized', 'The token is not valid');
  return principal;
}

/** Other sites are refused before; what is left to refuse are other ports of this machine, which share its cookies. */
function fromPage(headers: IncomingHttpHeaders): boolean {
  const site = headers['sec-fetch-site'];
  return site === undefined || site === 'same-origin' || site === 'none';
}

/** Throws `forbidden` where the caller may not do this. */
export function authorize(principal: Principal, scope: Scope): void {
  if (principal.scopes.includes(scope)) return;
  throw new WorkronError('forbidden', `${principal.name} may not do this: it needs the scope ${scope}`);
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
