import { WorkronError } from '../../../src/api/errors.ts';

/** The server's message, with each field that it names. */
export function messageOf(error: unknown): string {
  if (error instanceof WorkronError) return error.message;
  return error instanceof Error ? error.message : String(error);
}

export function isUnauthorized(error: unknown): boolean {
  return error instanceof WorkronError && error.code === 'unauthorized';
}

export function isMissing(error: unknown): boolean {
  return error instanceof WorkronError && error.httpStatus === 404;
}
