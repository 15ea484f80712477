/** Encodes errors that a thread sends to the caller: structured clone does not keep classes. */

import { type ErrorCode, WorkronError } from '../../../core/error.ts';

export interface Failure {
  /** `null`: a bug, not something a caller can act on. */
  code: ErrorCode | null;
  message: string;
  jobId: number | null;
  /** The stack, or SQLite's message. */
  cause: string | null;
}

export function encodeFailure(error: unknown): Failure {
  if (error instanceof WorkronError) {
    const { jobId, cause } = error.details;
    return {
      code: error.code,
      message: error.message,
      jobId: jobId ?? null,
      cause: cause instanceof Error ? cause.message : null,
    };
  }
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  return { code: null, message, jobId: null, cause: stack ?? null };
}

export function decodeFailure({ code, message, jobId, cause }: Failure): Error {
  if (code === null) return new Error(message, { cause });
  return new WorkronError(code, message, {
    ...(jobId === null ? {} : { jobId }),
    ...(cause === null ? {} : { cause: new Error(cause) }),
  });
}
