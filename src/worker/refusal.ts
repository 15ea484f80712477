import { type ErrorCode, isWorkronError, type WorkronError } from '../core/error.ts';

/** What was said is wrong and stays so; all else (no route, no token, no room) may be well the next time. */
const REFUSALS: readonly ErrorCode[] = [
  'bad_request',
  'payload_too_large',
  'job_not_found',
  'worker_not_found',
  'illegal_transition',
  'lease_lost',
];

/** Whether sending the same again is pointless. */
export function isRefusal(error: unknown): error is WorkronError {
  return isWorkronError(error) && REFUSALS.includes(error.code);
}
