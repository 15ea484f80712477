/** The text of tokens that Workron makes, and what is stored of it. */

import { createHash, createHmac, randomBytes } from 'node:crypto';

/** Tells a token of the store from a configured one, and lets scanners find it in files where it should not be. */
const PREFIX = 'wkr_';
const DERIVED_PREFIX = 'wkd_';
/** The part of the hash that names the token in what is derived from it. */
const NAME_LENGTH = 16;

/** 256 random bits. */
export function newTokenText(): string {
  return PREFIX + randomBytes(32).toString('base64url');
}

export function isStoredToken(text: string): boolean {
  return text.startsWith(PREFIX);
}

/** What a store keeps. No salt is needed: nobody can guess 256 random bits. */
export function hashToken(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/**
 * A token that allows one request, such as `POST /workers/7/gone`, and shows nothing of the token that it is made from. For
 * a process that has to send that request, and shares its user with commands. One of a stored token also names that.
 */
export function derivedToken(token: string, request: string): string {
  return isStoredToken(token) ? derivedFromHash(hashToken(token), request) : sign(token, request);
}

/** The server's side of `derivedToken` for a stored token, of which it knows the hash only. */
export function derivedFromHash(hash: string, request: string): string {
  return `${DERIVED_PREFIX}${hash.slice(0, NAME_LENGTH)}.${sign(hash, request)}`;
}

/** The start of the hash of the stored token that a derived one names; `undefined` for all other texts. */
export function nameInDerived(text: string): string | undefined {
  return new RegExp(`^${DERIVED_PREFIX}([0-9a-f]{${NAME_LENGTH}})\\.`).exec(text)?.[1];
}

function sign(key: string, text: string): string {
  return createHmac('sha256', key).update(text).digest('base64url');
}
