/** Checkpoints over HTTP: streamed in both directions. */

import { CHECKPOINT_TYPES, checkpointKindOf } from '../api/checkpoint.ts';
import { routes } from '../api/routes.ts';
import type { CheckpointContent, NewCheckpoint } from '../core/checkpoint.ts';
import { isWorkronError } from '../core/error.ts';
import type { HttpExchange } from './http-exchange.ts';
import { transferMs } from './time/transfer-ms.ts';

/** A reply that sends nothing for this time has broken off. */
const SILENCE_MS = 8_000;

export async function uploadCheckpoint(
  exchange: HttpExchange,
  { jobId, attempt, workerId, kind, bytes, chunks }: NewCheckpoint,
  signal: AbortSignal,
): Promise<boolean> {
  // Read from its beginning for every scheduler that is tried.
  const data = { [Symbol.asyncIterator]: () => chunks()[Symbol.asyncIterator]() };
  const call = {
    params: { id: jobId },
    query: { attempt: String(attempt), worker_id: String(workerId) },
    payload: { type: CHECKPOINT_TYPES[kind], data },
    headers: { 'content-length': String(bytes) },
    deadlineMs: transferMs(bytes),
  };
  try {
    await exchange.json(routes.writeCheckpoint, call, signal);
    return true;
  } catch (error) {
    if (isWorkronError(error, 'lease_lost')) return false;
    throw error;
  }
}

export async function downloadCheckpoint(
  exchange: HttpExchange,
  jobId: number,
  signal: AbortSignal,
): Promise<CheckpointContent | null> {
  try {
    const call = { params: { id: jobId }, deadlineMs: SILENCE_MS };
    const reply = await exchange.open(routes.readCheckpoint, call, signal);
    const bytes = Number(reply.header('content-length'));
    return { kind: checkpointKindOf(reply.header('content-type')), bytes, chunks: () => reply.body };
  } catch (error) {
    if (isWorkronError(error, 'not_found')) return null;
    throw error;
  }
}
