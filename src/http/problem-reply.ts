/** Turns thrown errors into errors for callers. */

import type { FastifyError } from 'fastify';
import { type ErrorCode, isWorkronError, WorkronError } from '../core/error.ts';

const BY_STATUS: Readonly<Record<number, ErrorCode>> = {
  404: 'not_found',
  405: 'method_not_allowed',
  413: 'payload_too_large',
  415: 'unsupported_media_type',
};

/** Returns the error that callers see. Errors with internal details become `internal`. */
export function publicError(error: unknown): WorkronError {
  if (isWorkronError(error)) return error;
  const { code, statusCode, message } = error as Partial<FastifyError>;
  // The framework's own text repeats the whole address.
  if (code === 'FST_ERR_MAX_PARAM_LENGTH') return new WorkronError('bad_request', 'A name in the address is too long');
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) {
    return new WorkronError(BY_STATUS[statusCode] ?? 'bad_request', message ?? 'The request is not valid');
  }
  return new WorkronError('internal', 'Something went wrong here; the log of the server says more', { cause: error });
}

/** The headers of an error: when to retry, how to log in. */
export function errorHeaders(error: WorkronError): Record<string, string> {
  const headers: Record<string, string> = {};
  if (error.httpStatus === 429 || error.httpStatus === 503) {
    headers['retry-after'] = String(Math.max(1, Math.ceil((error.details.retryAfterMs ?? 1_000) / 1_000)));
  }
  if (error.code === 'unauthorized') headers['www-authenticate'] = 'Bearer realm="workron"';
  return headers;
}
