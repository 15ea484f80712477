/**
 * Output of several attempts in one body, without base64: frame after frame, each 8 bytes job id, 4 bytes attempt,
 * 8 bytes offset, 4 bytes length (big-endian) and then so many bytes of output.
 */

import { z } from 'zod';
import { WorkronError } from '../core/error.ts';
import { wireId } from './fields.ts';
import { itemsOf, named } from './schemas.ts';

export const OUTPUT_TYPE = 'application/vnd.workron.output';
const HEADER_BYTES = 24;

/** In order: whether the attempt is still this worker's. */
export const OutputAnswer = named(
  'OutputAnswer',
  itemsOf(z.object({ job_id: wireId, attempt: z.number(), held: z.boolean() })),
);

export interface OutputFrame {
  jobId: number;
  attempt: number;
  offset: number;
  data: Uint8Array;
}

export function encodeFrames(frames: readonly OutputFrame[]): Uint8Array {
  const bytes = new Uint8Array(frames.reduce((sum, frame) => sum + HEADER_BYTES + frame.data.length, 0));
  const view = new DataView(bytes.buffer);
  let at = 0;
  for (const { jobId, attempt, offset, data } of frames) {
    view.setBigUint64(at, BigInt(jobId));
    view.setUint32(at + 8, attempt);
    view.setBigUint64(at + 12, BigInt(offset));
    view.setUint32(at + 20, data.length);
    bytes.set(data, at + HEADER_BYTES);
    at += HEADER_BYTES + data.length;
  }
  return bytes;
}

/** The frames; their data are views of `bytes`. A body that is not whole frames is a `bad_request`. */
export function decodeFrames(bytes: Uint8Array): OutputFrame[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const frames: OutputFrame[] = [];
  let at = 0;
  while (at < bytes.length) {
    if (at + HEADER_BYTES > bytes.length) throw broken(at);
    const jobId = Number(view.getBigUint64(at));
    const offset = Number(view.getBigUint64(at + 12));
    const end = at + HEADER_BYTES + view.getUint32(at + 20);
    if (end > bytes.length || !Number.isSafeInteger(jobId) || !Number.isSafeInteger(offset)) throw broken(at);
    frames.push({ jobId, attempt: view.getUint32(at + 8), offset, data: bytes.subarray(at + HEADER_BYTES, end) });
    at = end;
  }
  return frames;
}

function broken(at: number): WorkronError {
  return new WorkronError('bad_request', `The output frame at byte ${at} is broken`);
}
