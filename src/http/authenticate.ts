/** Authenticates callers and checks what they are allowed to do. */

import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { PAGE_PATH, routes } from '../api/routes.ts';
import { isWorkronError, WorkronError } from '../core/error.ts';
import type { SessionOwner } from '../core/session.ts';
import { ROLE_SCOPES, SCOPES, type Scope, type ValidToken } from '../core/token.ts';
import { derivedFromHash, derivedToken, isStoredToken, nameInDerived } from '../ops/token-text.ts';
import type { Access } from '../scheduler/access/access.ts';
import type { Sessions } from '../scheduler/access/sessions.ts';
import type { Caller } from '../scheduler/jobs/admit.ts';
import { matches } from './path-in.ts';
import { sessionIn } from './session.ts';

export interface Principal extends Caller {
  /** Identifies the caller without revealing its token. */
  id: string;
  scopes: readonly Scope[];
  /** It may act only as workers that it registered itself. */
  ownWorkersOnly: boolean;
  /** A program that has opened the store itself and gave no name: what it decides is not on record. */
  unnamed?: true;
  /** Whom a session that it opens stands for; `null`: it cannot have one. */
  owner: SessionOwner | null;
}

/** A caller by the name that is also on what it submits. */
export function named(name: string): Pick<Caller, 'name' | 'submitter'> {
  return { name, submitter: name };
}

/** The path of a link that logs in. The part behind # is not sent to servers. */
export function linkPath(code: string): string {
  return `${PAGE_PATH}/#link=${code}`;
}

const EVERYTHING = { scopes: SCOPES, queues: null, ownWorkersOnly: false };
const EVERYBODY: Principal = {
  name: 'local',
  submitter: null,
  id: '-',
  owner: ownerOf({ configured: 'everybody' }),
  ...EVERYTHING,
};

/** A program that has opened the store itself, and gives itself a name or none. */
export function localCaller(actor: string | null): Principal {
  const caller = { ...EVERYBODY, owner: null };
  return actor === null ? { ...caller, unnamed: true } : { ...caller, ...named(actor), id: `actor ${actor}` };
}

interface Request {
  headers: IncomingHttpHeaders;
  method: string;
  /** Without the query. */
  path: string;
  /** A ticket in the query. */
  ticket: string | undefined;
  signal: AbortSignal;
}

interface Known {
  /** The configured token; `null`: everybody may do everything. */
  token: string | null;
  /** The request came through a socket that only the user of the server can open. */
  isLocal: boolean;
  /** The user whom a trusted proxy names in this request. */
  user: () => Principal | undefined;
  access: Pick<Access, 'validToken' | 'validTokenByHash' | 'validTokenById'> &
    Pick<Sessions, 'sessionOf' | 'isOpenSession' | 'takeLink' | 'takeTicket'>;
}

/**
 * Returns the caller. If the server has a token, the request needs `Authorization: Bearer` with it, with a token of the store, or
 * with one that was derived from either to report the end of a worker; or a session of the page; or a ticket. Else this throws
 * `unauthorized`. A session counts only for requests of the page itself, since browsers add cookies to others.
 */
export async function authenticate(request: Request, known: Known): Promise<Principal> {
  const { token } = known;
  const given = bearerOf(request.headers);
  if (given === undefined) {
    if (token === null) return EVERYBODY;
    if (known.isLocal && request.headers.authorization === undefined)
      return { ...configured(token), ...named('local') };
    const found = request.headers.authorization === undefined ? await withoutHeader(request, token, known) : undefined;
    if (found !== undefined) return found;
    throw new WorkronError('unauthorized', 'This server needs a token: send Authorization: Bearer <token>');
  }
  if (token !== null && isEqual(given, token)) return configured(token);
  const found =
    (await storedToken(given, request, known.access)) ??
    derivedFrom(token, given, request) ??
    (await byLink(given, request, known));
  // Without a configured token everybody may do everything, so a wrong one is no reason to refuse.
  if (found === undefined && token === null && !isStoredToken(given)) return EVERYBODY;
  if (found === undefined) throw new WorkronError('unauthorized', 'The token is not valid');
  return found;
}

/** Whether the caller of a request that is still being answered would be accepted now. A ticket is used up; its owner counts. */
export async function isStillAccepted({ owner }: Principal, request: Request, known: Known): Promise<boolean> {
  if (request.ticket !== undefined && known.token !== null && owner !== null) {
    const { parent } = owner;
    if (parent !== null && !(await known.access.isOpenSession(parent, request.signal))) return false;
    return (await ofOwner(owner, known.token, known)) !== undefined;
  }
  return await authenticate(request, known).then(
    () => true,
    (error: unknown) => {
      if (isWorkronError(error, 'unauthorized')) return false;
      throw error;
    },
  );
}

async function withoutHeader(request: Request, token: string, known: Known): Promise<Principal | undefined> {
  const { headers, ticket, signal } = request;
  if (ticket !== undefined) {
    const taken = await known.access.takeTicket(ticket, requestLine(request), signal);
    return taken === undefined ? undefined : ofOwner(taken, token, known);
  }
  // A browser sends the proxy's sign-in with every request, whichever page causes it.
  const user = fromPage(headers) ? known.user() : undefined;
  if (user !== undefined) return user;
  const halves = fromPage(headers) ? sessionIn(headers) : undefined;
  const session = halves === undefined ? undefined : await known.access.sessionOf(halves, signal);
  return session === undefined ? undefined : ofOwner({ ...session, parent: session.hash }, token, known);
}

/** The code of a link is a token for one request: the one that opens a session. */
async function byLink(given: string, request: Request, known: Known): Promise<Principal | undefined> {
  const { method, path } = routes.openSession;
  if (known.token === null || requestLine(request) !== `${method} ${path}`) return undefined;
  const link = await known.access.takeLink(given, request.signal);
  return link === undefined ? undefined : ofOwner(link, known.token, known);
}

/** Sessions end with the token that they were opened with. */
async function ofOwner(
  { tokenId, configured: fingerprint, parent }: SessionOwner,
  token: string,
  { access }: Known,
): Promise<Principal | undefined> {
  if (tokenId === null) {
    const self = configured(token);
    return fingerprint === self.id ? { ...self, owner: ownerOf({ configured: self.id, parent }) } : undefined;
  }
  const stored = await access.validTokenById(tokenId);
  return stored === undefined ? undefined : { ...principalOf(stored), owner: ownerOf({ tokenId, parent }) };
}

function ownerOf({ tokenId = null, configured = null, parent = null }: Partial<SessionOwner>): SessionOwner {
  return { tokenId, configured, parent };
}

function bearerOf(headers: IncomingHttpHeaders): string | undefined {
  return /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1];
}

/** The caller with the configured token. */
export function configured(token: string): Principal & { owner: SessionOwner } {
  const id = digest(token).toString('base64url').slice(0, 16);
  return { ...named('token'), id, owner: ownerOf({ configured: id }), ...EVERYTHING };
}

async function storedToken(given: string, request: Request, access: Known['access']): Promise<Principal | undefined> {
  if (isStoredToken(given)) {
    const token = await access.validToken(given);
    return token === undefined ? undefined : principalOf(token);
  }
  const start = isEndOfWorker(request) ? nameInDerived(given) : undefined;
  const token = start === undefined ? undefined : await access.validTokenByHash(start);
  if (token === undefined || !isEqual(given, derivedFromHash(token.hash, requestLine(request)))) return undefined;
  const principal = principalOf(token);
  return { ...principal, owner: null, scopes: principal.scopes.filter((scope) => scope === 'work') };
}

/** Both tokens of a rotation are the same caller. */
function principalOf({ id, name, role, queues }: ValidToken): Principal {
  const owner = ownerOf({ tokenId: id });
  return {
    ...named(name),
    id: `token ${name}`,
    owner,
    scopes: ROLE_SCOPES[role],
    queues,
    ownWorkersOnly: role === 'worker',
  };
}

function derivedFrom(token: string | null, given: string, request: Request): Principal | undefined {
  if (token === null || !isEndOfWorker(request)) return undefined;
  if (!isEqual(given, derivedToken(token, requestLine(request)))) return undefined;
  return { ...configured(token), name: 'derived token', owner: null, scopes: ['work'] };
}

/**
 * The one request for which a derived token counts. Everybody who has a token, or the hash that the store keeps of it, can derive
 * one for any request.
 */
function isEndOfWorker({ method, path }: Request): boolean {
  return method === routes.goneWorker.method && matches(routes.goneWorker.path, path);
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
