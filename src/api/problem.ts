/** Errors on the wire: problem documents (RFC 9457) with a stable `code`. No schema is loaded to read one. */

import { ERROR_CODES, type ErrorCode, WorkronError } from '../core/error.ts';
import type { Problem } from './problem-schema.ts';

/** For the dashboard, which may import src/api only. */
export { WorkronError } from '../core/error.ts';

export const PROBLEM_TYPE = 'application/problem+json';

/** The title of each code. */
export const ERROR_TITLES: Readonly<Record<ErrorCode, string>> = {
  bad_request: 'The request is not valid',
  dependency_cycle: 'The dependencies form a cycle',
  dependency_unknown: 'A dependency does not exist',
  schedule_invalid: 'The schedule is not valid',
  unauthorized: 'A token is needed',
  forbidden: 'Refused',
  not_found: 'There is nothing at this address',
  job_not_found: 'No such job',
  worker_not_found: 'No such worker',
  operation_not_found: 'No such operation',
  workflow_not_found: 'No such workflow',
  step_not_found: 'No such step',
  schedule_not_found: 'There is no such schedule',
  definition_not_found: 'There is no such workflow definition',
  token_not_found: 'There is no such token',
  secret_not_found: 'There is no such secret',
  method_not_allowed: 'This address does not take this method',
  illegal_transition: 'The job is not in a state that allows this',
  lease_lost: 'The attempt no longer belongs to this worker',
  leadership_lost: 'Another instance performs this duty now',
  unique_conflict: 'Another job holds the unique key',
  schedule_exists: 'Another schedule has this name',
  definition_in_use: 'Schedules use the workflow definition',
  definition_changed: 'The workflow definition was changed in the meantime',
  token_exists: 'Another token has this name',
  no_secrets_key: 'The server has no key for secrets',
  payload_too_large: 'The request is too large',
  unsupported_media_type: 'The body is not of a type that this address takes',
  idempotency_mismatch: 'The Idempotency-Key was used for another request',
  too_many_requests: 'Too many requests',
  internal: 'Something went wrong in the server',
  store_unavailable: 'The database is away for now',
  store_full: 'The disk is full',
  incompatible_schema: 'The database needs another Workron',
  overloaded: 'Too much to do at the moment',
  shutting_down: 'The server is shutting down',
  unreachable: 'The server cannot be reached',
};

export function problemFrom(error: WorkronError, requestId: string): Problem {
  return {
    type: `urn:workron:problem:${error.code}`,
    title: ERROR_TITLES[error.code],
    status: error.httpStatus,
    code: error.code,
    detail: error.message,
    request_id: requestId,
    ...(error.details.errors === undefined ? {} : { errors: [...error.details.errors] }),
    ...(error.details.jobId === undefined ? {} : { job_id: String(error.details.jobId) }),
  };
}

/** A problem document from any server: one of another version may lack fields, or have more of them. */
export interface ReceivedProblem {
  title: string;
  status?: number;
  code?: string;
  detail?: string;
  [field: string]: unknown;
}

/** The problem document in the text of a reply; `undefined` if it is something else, such as the page of a proxy. */
export function parseProblem(text: string): ReceivedProblem | undefined {
  try {
    const body: unknown = JSON.parse(text);
    return isProblem(body) ? body : undefined;
  } catch {
    return undefined;
  }
}

export function isProblem(body: unknown): body is ReceivedProblem {
  return typeof body === 'object' && body !== null && 'title' in body && typeof body.title === 'string';
}

/** Returns the error that a problem document describes. A code that is not known here is replaced by one for its status. */
export function errorFromProblem(status: number, body: unknown, retryAfterSeconds?: number): WorkronError {
  const retryAfter = retryAfterSeconds === undefined ? {} : { retryAfterMs: retryAfterSeconds * 1_000 };
  if (!isProblem(body) || typeof body.code !== 'string' || typeof body.detail !== 'string') {
    return new WorkronError(codeOfStatus(status), `The server answered ${status}`, retryAfter);
  }
  const { code, detail, errors } = body;
  return new WorkronError(Object.hasOwn(ERROR_CODES, code) ? (code as ErrorCode) : codeOfStatus(status), detail, {
    ...retryAfter,
    ...(Array.isArray(errors) ? { errors: errors.filter(isFieldError) } : {}),
  });
}

function isFieldError(error: unknown): error is { pointer: string; detail: string } {
  const { pointer, detail } = (error ?? {}) as Record<string, unknown>;
  return typeof pointer === 'string' && typeof detail === 'string';
}

const BY_STATUS: Readonly<Record<number, ErrorCode>> = {
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  405: 'method_not_allowed',
  409: 'illegal_transition',
  413: 'payload_too_large',
  415: 'unsupported_media_type',
  422: 'idempotency_mismatch',
  429: 'too_many_requests',
};

function codeOfStatus(status: number): ErrorCode {
  if (status === 502 || status === 503 || status === 504) return 'overloaded';
  return BY_STATUS[status] ?? (status >= 500 ? 'internal' : 'bad_request');
}
