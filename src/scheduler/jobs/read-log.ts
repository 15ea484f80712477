/** Reads what an attempt has printed. */

import type { LogPiece } from '../../core/output.ts';
import type { SchedulerContext } from '../context.ts';
import type { LogSlice } from '../scheduler.ts';
import { jobNotFound } from './change-job.ts';

export interface LogRequest {
  id: number;
  /** `null`: the present or last attempt. */
  attempt: number | null;
  from: number;
  maxBytes: number;
}

/** AdaptiveBatch beyond `from`, in order. */
export async function readLog(context: SchedulerContext, request: LogRequest, signal: AbortSignal): Promise<LogSlice> {
  const [job] = await context.store.read([request.id], signal);
  if (job === undefined) throw jobNotFound(request.id);
  const attempt = request.attempt ?? job.attempt;
  const running = job.status === 'running' && job.attempt === attempt;
  // Read after the state: what is written before an attempt ends is there once it has ended.
  const { from, maxBytes } = request;
  const pieces = await context.store.readLog({ jobId: job.id, attempt, from, maxBytes }, signal);
  const next = pieces.reduce((end: number, piece: LogPiece) => Math.max(end, piece.offset + piece.data.length), from);
  return { attempt, pieces, next, ended: !running && attempt <= job.attempt && pieces.length === 0 };
}
