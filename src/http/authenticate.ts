/** Authenticates callers and checks what they are allowed to do. */

import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { SCOPES, type Scope } from '../api/route.ts';
import { WorkronError } from '../core/error.ts';
import { derivedToken } from '../ops/derived-token.ts';
import { hasSession } from './session.ts';

export interface Principal {
  name: string;
  /** Identifies the caller without revealing its token. */
  id: string;
  scopes: readonly Scope[];
}

const EVERYBODY: Principal = { name: 'local', id: '-', scopes: SCOPES };

interface Request {
  headers: IncomingHttpHeaders;
  method: string;
  /** Without the query. */
  path: string;
}

/**
 * Returns the caller. If the server has a token, the request needs `Authorization: Bearer` with it, with one that was derived
 * from it for this request, or a session of the page, else this throws `unauthorized`. A session counts only for requests of
 * the page itself, since browsers add cookies to others.
 */
export function authenticate({ headers, method, path }: Request, token: string | null, now: number): Principal {
  if (token === null) return EVERYBODY;
  const expected = digest(token);
  const principal: Principal = { name: 'token', id: expected.toString('base64url').slice(0, 16), scopes: SCOPES };
  if (headers.authorization === undefined && fromPage(headers) && hasSession(headers, token, now)) return principal;
  const given = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1];
  if (given === undefined) {
    throw new WorkronError('unauthorized', 'This server needs a token: send Authorization: Bearer <token>');
  }
  if (timingSafeEqual(digest(given), expected)) return principal;
  const derived = digest(derivedToken(token, `${method} ${path}`));
  if (timingSafeEqual(digest(given), derived)) return { ...principal, name: 'derived token', scopes: ['work'] };
  throw new WorkronError('unauthorized', 'The token is not valid');
}

/** `checkOrigin` has refused other sites; this refuses other ports of this machine, which share its cookies. */
function fromPage(headers: IncomingHttpHeaders): boolean {
  const site = headers['sec-fetch-site'];
  return site === undefined || site === 'same-origin' || site === 'none';
}

/** Throws `forbidden` if the caller lacks the scope. */
export function authorize(principal: Principal, scope: Scope): void {
  if (principal.scopes.includes(scope)) return;
  throw new WorkronError('forbidden', `${principal.name} may not do this: it needs the scope ${scope}`);
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
