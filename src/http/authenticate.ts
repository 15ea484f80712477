/** Authenticates callers and checks what they are allowed to do. */

import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { ROLE_SCOPES, SCOPES, type Scope } from '../api/route.ts';
import { WorkronError } from '../core/error.ts';
import type { ValidToken } from '../core/token.ts';
import { derivedFromHash, derivedToken, isStoredToken, nameInDerived } from '../ops/token-text.ts';
import type { Access } from '../scheduler/access/access.ts';
import { hasSession } from './session.ts';

export interface Principal {
  /** Who it is, for people. */
  name: string;
  /** Identifies the caller without revealing its token. */
  id: string;
  scopes: readonly Scope[];
  /** The queues to submit to or to claim from; `null`: all. */
  queues: readonly string[] | null;
  /** It may act only as workers that it registered itself. */
  ownWorkersOnly: boolean;
}

const EVERYTHING = { scopes: SCOPES, queues: null, ownWorkersOnly: false };
const EVERYBODY: Principal = { name: 'local', id: '-', ...EVERYTHING };

interface Request {
  headers: IncomingHttpHeaders;
  method: string;
  /** Without the query. */
  path: string;
}

interface Known {
  /** The configured token; `null`: everybody may do everything. */
  token: string | null;
  access: Pick<Access, 'validToken' | 'validTokenByHash'>;
  now: number;
}

/**
 * Returns the caller. If the server has a token, the request needs `Authorization: Bearer` with it, with a token of the store,
 * with one that was derived from either for this request, or a session of the page, else this throws `unauthorized`. A
 * session counts only for requests of the page itself, since browsers add cookies to others.
 */
export async function authenticate(request: Request, { token, access, now }: Known): Promise<Principal> {
  const { headers } = request;
  const given = bearerOf(headers);
  if (token === null && given === undefined) return EVERYBODY;
  if (token !== null && headers.authorization === undefined && fromPage(headers) && hasSession(headers, token, now)) {
    return configured(token);
  }
  if (given === undefined) {
    throw new WorkronError('unauthorized', 'This server needs a token: send Authorization: Bearer <token>');
  }
  if (token !== null && isEqual(given, token)) return configured(token);
  const found = (await storedToken(given, request, access)) ?? derivedFrom(token, given, request);
  // Without a configured token everybody may do everything, so a wrong one is no reason to refuse.
  if (found === undefined && token === null && !isStoredToken(given)) return EVERYBODY;
  if (found === undefined) throw new WorkronError('unauthorized', 'The token is not valid');
  return found;
}

function bearerOf(headers: IncomingHttpHeaders): string | undefined {
  return /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1];
}

function configured(token: string): Principal {
  return { name: 'token', id: digest(token).toString('base64url').slice(0, 16), ...EVERYTHING };
}

async function storedToken(given: string, request: Request, access: Known['access']): Promise<Principal | undefined> {
  if (isStoredToken(given)) {
    const token = await access.validToken(given);
    return token === undefined ? undefined : principalOf(token);
  }
  const start = nameInDerived(given);
  const token = start === undefined ? undefined : await access.validTokenByHash(start);
  if (token === undefined || !isEqual(given, derivedFromHash(token.hash, requestLine(request)))) return undefined;
  return { ...principalOf(token), scopes: ['work'] };
}

/** Both tokens of a rotation are the same caller. */
function principalOf({ name, role, queues }: ValidToken): Principal {
  return { name, id: `token ${name}`, scopes: ROLE_SCOPES[role], queues, ownWorkersOnly: role === 'worker' };
}

function derivedFrom(token: string | null, given: string, request: Request): Principal | undefined {
  if (token === null || !isEqual(given, derivedToken(token, requestLine(request)))) return undefined;
  return { ...configured(token), name: 'derived token', scopes: ['work'] };
}

function requestLine({ method, path }: Request): string {
  return `${method} ${path}`;
}

/** `checkOrigin` has refused other sites; this refuses other ports of this machine, which share its cookies. */
function fromPage(headers: IncomingHttpHeaders): boolean {
  const site = headers['sec-fetch-site'];
  return site === undefined || site === 'same-origin' || site === 'none';
}

/** Compares in constant time. */
function isEqual(given: string, expected: string): boolean {
  return timingSafeEqual(digest(given), digest(expected));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
