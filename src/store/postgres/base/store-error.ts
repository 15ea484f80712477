/** Translates the database's errors for callers. */

import { isWorkronError, WorkronError } from '../../../core/error.ts';

/** True for the victim of a deadlock. */
export const DEADLOCK = '40P01';
/** A standby answered. */
export const READ_ONLY = '25006';
const DISK_FULL = '53100';
const LOCK_TIMEOUT = '55P03';
const STATEMENT_TIMEOUT = '57014';

const AWAY_STATES = new Set([
  READ_ONLY,
  '28000', // may not log in
  '28P01', // wrong password
  '3D000', // no such database
  DEADLOCK,
  '53200', // out of memory
  '53300', // too many connections
  LOCK_TIMEOUT,
  STATEMENT_TIMEOUT,
  '57P01', // shut down by its administrator
  '57P02', // crashed
  '57P03', // starting up
]);
const AWAY_MESSAGES =
  /Connection terminated|timeout exceeded when trying to connect|timeout expired|Query read timeout|not queryable|Client was closed|after calling end on the pool|server does not support SSL/;

/** Returns `store_unavailable` or `store_full`, or the error itself if it is a bug of ours. */
export function toStoreError(error: unknown): unknown {
  if (isWorkronError(error)) return error;
  const message = error instanceof Error ? error.message : String(error);
  const code = codeOf(error);
  if (code === DISK_FULL) {
    return new WorkronError('store_full', `The database's disk is full: ${message}`, { cause: error });
  }
  if (isAway(code, message)) {
    return new WorkronError('store_unavailable', `The database is not available: ${message || code}`, {
      cause: error,
      retryAfterMs: 1_000,
    });
  }
  return error;
}

/** True if the statement took too long or waited too long for a lock. */
export function isTooSlow(error: unknown): boolean {
  const code = codeOf(isWorkronError(error) ? error.cause : error);
  return code === LOCK_TIMEOUT || code === STATEMENT_TIMEOUT;
}

export function codeOf(error: unknown): string {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' ? code : '';
}

function isAway(code: string, message: string): boolean {
  // PostgreSQL's codes have five characters; those of the operating system begin with E.
  return code.startsWith('08') || /^E[A-Z_]+$/.test(code) || AWAY_STATES.has(code) || AWAY_MESSAGES.test(message);
}
