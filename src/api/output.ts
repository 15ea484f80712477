/** The output of jobs: how it is read, and how workers upload it. */

import { z } from 'zod';
import { WorkronError } from '../core/error.ts';
import { numberInQuery, storeId, wireId } from './fields.ts';
import { itemsOf, named, strict } from './schemas.ts';

/** Leaves room for the output that follows. */
const MAX_OFFSET = 2 ** 52;

export const attemptInQuery = numberInQuery(1, 2 ** 31 - 1);

export const LogQuery = strict({
  attempt: attemptInQuery
    .meta({ description: 'The current or last attempt unless given.', examples: [1] })
    .exactOptional(),
  follow: z
    .enum(['true', 'false'])
    .meta({ examples: ['false'] })
    .exactOptional(),
  timestamps: z
    .enum(['true', 'false'])
    .meta({ description: 'As text: begin each line with the time at which it was received.', examples: ['false'] })
    .exactOptional(),
});

export const LogUploadQuery = z.object({
  worker_id: storeId,
  attempt: attemptInQuery,
  offset: numberInQuery(0, MAX_OFFSET).meta({
    description: 'The number of bytes before these. Output with the same offset is stored once.',
  }),
});

export const LogPosition = named('LogPosition', z.object({ next_offset: z.number() }));

/**
 * The output of several attempts in one body, without base64: a sequence of frames, each 8 bytes job id, 4 bytes attempt,
 * 8 bytes offset, 4 bytes length (big-endian), then the output itself.
 */
export const OUTPUT_TYPE = 'application/vnd.workron.output';
const HEADER_BYTES = 24;

/** One item per frame, in order; `held`: the attempt still belongs to this worker. */
export const OutputAnswer = named(
  'OutputAnswer',
  itemsOf(z.object({ job_id: wireId, attempt: z.number(), held: z.boolean() })),
);

interface OutputFrame {
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

/** Returns the frames, whose data are views of `bytes`. Throws `bad_request` if the body ends inside a frame. */
export function decodeFrames(bytes: Uint8Array): OutputFrame[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const frames: OutputFrame[] = [];
  let at = 0;
  while (at < bytes.length) {
    if (at + HEADER_BYTES > bytes.length) throw broken(at);
    const jobId = Number(view.getBigUint64(at));
    const offset = Number(view.getBigUint64(at + 12));
    const end = at + HEADER_BYTES + view.getUint32(at + 20);
    if (end > bytes.length || !Number.isSafeInteger(jobId) || offset > MAX_OFFSET) throw broken(at);
    frames.push({ jobId, attempt: view.getUint32(at + 8), offset, data: bytes.subarray(at + HEADER_BYTES, end) });
    at = end;
  }
  return frames;
}

function broken(at: number): WorkronError {
  return new WorkronError('bad_request', `The output frame at byte ${at} is broken`);
}
