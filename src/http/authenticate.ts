/** Who is calling, and what they may do. */

import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { WorkronError } from '../core/error.ts';

export const SCOPES = ['read', 'submit', 'operate', 'admin', 'work'] as const;
export type Scope = (typeof SCOPES)[number];

export interface Principal {
  name: string;
  /** Tells callers apart without giving their token away. */
  id: string;
  scopes: readonly Scope[];
}

const EVERYBODY: Principal = { name: 'local', id: '-', scopes: SCOPES };

/** The caller, by its `Authorization: Bearer` where the server has a token; else `unauthorized`. */
export function authenticate(headers: IncomingHttpHeaders, token: string | null): Principal {
  if (token === null) return EVERYBODY;
  const given = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1];
  if (given === undefined) {
    throw new WorkronError('unauthorized', 'This server needs a token: send Authorization: Bearer <token>');
  }
  const expected = digest(token);
  if (!timingSafeEqual(digest(given), expected)) throw new WorkronError('unauthorized', 'The token is not valid');
  return { name: 'token', id: expected.toString('base64url').slice(0, 16), scopes: SCOPES };
}

/** Throws `forbidden` where the caller may not do this. */
export function authorize(principal: Principal, scope: Scope): void {
  if (principal.scopes.includes(scope)) return;
  throw new WorkronError('forbidden', `${principal.name} may not do this: it needs the scope ${scope}`);
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
