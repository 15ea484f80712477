/** The errors that users see: one table of codes, each with its HTTP status. Codes never change; messages may. */

export const ERROR_CODES = {
  bad_request: 400,
  dependency_cycle: 400,
  dependency_unknown: 400,
  schedule_invalid: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  job_not_found: 404,
  worker_not_found: 404,
  operation_not_found: 404,
  workflow_not_found: 404,
  step_not_found: 404,
  schedule_not_found: 404,
  definition_not_found: 404,
  token_not_found: 404,
  secret_not_found: 404,
  method_not_allowed: 405,
  illegal_transition: 409,
  lease_lost: 409,
  leadership_lost: 409,
  unique_conflict: 409,
  schedule_exists: 409,
  definition_in_use: 409,
  definition_changed: 409,
  token_exists: 409,
  no_secrets_key: 409,
  payload_too_large: 413,
  unsupported_media_type: 415,
  idempotency_mismatch: 422,
  too_many_requests: 429,
  internal: 500,
  store_unavailable: 503,
  store_full: 503,
  incompatible_schema: 503,
  overloaded: 503,
  shutting_down: 503,
  /** Raised by clients, never by a server. */
  unreachable: 503,
} as const;
export type ErrorCode = keyof typeof ERROR_CODES;

export interface ErrorDetails {
  jobId?: number;
  cause?: unknown;
  /** One entry per offending field: a JSON pointer and what was expected there. */
  errors?: readonly { pointer: string; detail: string }[];
  retryAfterMs?: number;
}

/** An error that a caller can act on: the request was wrong, the state changed, or the service is unavailable. */
export class WorkronError extends Error {
  readonly code: ErrorCode;
  readonly details: ErrorDetails;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = 'WorkronError';
    this.code = code;
    this.details = details;
  }

  get httpStatus(): number {
    return ERROR_CODES[this.code];
  }

  /** True if the same call may succeed later. An old program does not come to fit a newer schema. */
  get retryable(): boolean {
    return (this.httpStatus === 429 || this.httpStatus === 503) && this.code !== 'incompatible_schema';
  }
}

export function isWorkronError(error: unknown, code?: ErrorCode): error is WorkronError {
  return error instanceof WorkronError && (code === undefined || error.code === code);
}

/**
 * True if a write failed because of the row itself: other rows can still be written. False if the store is unavailable,
 * or if the leader's term is over.
 */
export function isRowError(error: unknown): boolean {
  return !isWorkronError(error) || (!error.retryable && error.code !== 'leadership_lost');
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
