/** Translates SQLite's errors for callers. */

import { WorkronError } from '../../../core/error.ts';

/** Primary result codes of SQLite; extended ones have them in their low byte. */
const CODES = { busy: 5, locked: 6, readOnly: 8, ioError: 10, corrupt: 11, full: 13, cantOpen: 14, notADatabase: 26 };

interface SqliteError extends Error {
  code: 'ERR_SQLITE_ERROR';
  errcode: number;
}

/** Returns the error for the caller; errors that are not SQLite's are returned as they are. */
export function toStoreError(error: unknown, file: string): unknown {
  if (!isSqliteError(error)) return error;
  const cause = { cause: error };
  switch (error.errcode & 0xff) {
    case CODES.full:
      return new WorkronError('store_full', `The disk that holds ${file} is full; free space and try again`, cause);
    case CODES.busy:
    case CODES.locked:
      return lockedByOther(file, error);
    case CODES.readOnly:
      return unavailable(`${file} cannot be written; check its permissions and those of its folder`, error);
    case CODES.cantOpen:
      return unavailable(`${file} cannot be opened; check that its folder exists and can be written`, error);
    case CODES.ioError:
      return unavailable(`Reading or writing ${file} failed (${error.message})`, error);
    case CODES.corrupt:
      return unavailable(`${file} is damaged (${error.message}); restore it from a backup`, error);
    case CODES.notADatabase:
      return unavailable(`${file} is not a SQLite database; name another file`, error);
    default:
      return error;
  }
}

export function lockedByOther(file: string, cause?: Error): WorkronError {
  return unavailable(`Another program holds a lock on ${file}; close it and try again`, cause);
}

export function isBusy(error: unknown): boolean {
  return isSqliteError(error) && (error.errcode & 0xff) === CODES.busy;
}

function isSqliteError(error: unknown): error is SqliteError {
  return error instanceof Error && (error as Partial<SqliteError>).code === 'ERR_SQLITE_ERROR';
}

function unavailable(message: string, cause?: Error): WorkronError {
  return new WorkronError('store_unavailable', message, { cause });
}
