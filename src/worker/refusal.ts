import { type ErrorCode, isWorkronError, type WorkronError } from '../core/error.ts';

/** The request is wrong and stays wrong. Other errors (no connection, no token, no room) may be gone the next time. */
const REFUSALS: readonly ErrorCode[] = [
  'bad_request',
  'payload_too_large',
  'job_not_found',
  'worker_not_found',
  'illegal_transition',
  'lease_lost',
];

/** True if it is pointless to send the same request again. */
export function isRefusal(error: unknown): error is WorkronError {
  return isWorkronError(error) && REFUSALS.includes(error.code);
}
