/** The output of jobs: readers follow it, workers upload it. */

import { CHECKPOINT_TYPES, CheckpointUploadQuery, CheckpointWritten, checkpointKindOf } from '../../api/checkpoint.ts';
import { decodeFrames, LogPosition, LogQuery, LogUploadQuery, OUTPUT_TYPE, OutputAnswer } from '../../api/output.ts';
import { routes } from '../../api/routes.ts';
import { MAX_CHECKPOINT_BYTES } from '../../core/checkpoint.ts';
import { WorkronError } from '../../core/error.ts';
import type { LeaseRef } from '../../core/lease.ts';
import { checkpointTooLarge } from '../../scheduler/leases/checkpoint.ts';
import { authorizeHolder, authorizeWorker } from '../authorize.ts';
import { releaseAfter } from '../concurrency-limit.ts';
import { followLog, type Position, readLog } from '../follow-log.ts';
import { handler } from '../handler.ts';
import { logAsEvents, logAsText } from '../log-text.ts';
import { pathId } from '../path-id.ts';
import { SSE_TYPE, wantsEvents } from '../sse.ts';

const TEXT_TYPE = 'text/plain; charset=utf-8';

export const outputHandlers = {
  readLogs: handler(routes.readLogs, {
    summary: 'Read what a job printed, as plain text; with follow=true or as events, until the job has ended',
    query: LogQuery,
    long: true,
    replies: { 200: { type: 'text/plain' } },
    async handle({ scheduler, params, query, headers, streams, remoteAddress, signal }) {
      const id = pathId(params);
      const only = query.attempt !== undefined;
      // Before the first byte: an unknown job must still become a 404.
      const job = await scheduler.wait(id, 0, signal);
      const slot = streams.take(remoteAddress);
      if (wantsEvents(headers.accept)) {
        const from = resumeAt(headers['last-event-id']) ?? { attempt: query.attempt ?? null, from: 0 };
        const items = followLog(scheduler, { id, ...from, only }, signal);
        return { status: 200, type: SSE_TYPE, chunks: releaseAfter(slot, logAsEvents(items)) };
      }
      const position: Position = { id, attempt: query.attempt ?? null, from: 0 };
      const style = { timestamps: query.timestamps === 'true' };
      if (query.follow === 'true') {
        const items = followLog(scheduler, { ...position, only }, signal);
        return { status: 200, type: TEXT_TYPE, chunks: releaseAfter(slot, logAsText(items, style)) };
      }
      if (query.attempt !== undefined && query.attempt > job.attempt) {
        slot[Symbol.dispose]();
        const detail = `Job ${id} has no attempt ${query.attempt}; the latest is ${job.attempt}`;
        throw new WorkronError('not_found', detail);
      }
      const items = readLog(scheduler, position, signal);
      return { status: 200, type: TEXT_TYPE, chunks: releaseAfter(slot, logAsText(items, style)) };
    },
  }),

  writeLogs: handler(routes.writeLogs, {
    summary: 'Upload a chunk of output of one attempt: the body is the bytes as they are',
    query: LogUploadQuery,
    rawBody: 'application/octet-stream',
    bodyLimit: 16 * 1024 * 1024,
    quiet: true,
    replies: { 200: LogPosition },
    async handle(call) {
      const { scheduler, params, query, bytes, signal } = call;
      const jobId = pathId(params);
      const { attempt, worker_id: workerId, offset } = query;
      await authorizeWorker(call, workerId);
      if (bytes.length > 0) {
        const [held] = await scheduler.writeLogs([{ jobId, attempt, workerId, offset, data: bytes }], signal);
        if (!held) throw notHeld({ jobId, attempt, workerId });
      }
      return { status: 200, json: { next_offset: offset + bytes.length } };
    },
  }),

  writeOutput: handler(routes.writeOutput, {
    summary: 'Upload output of several attempts at once',
    rawBody: OUTPUT_TYPE,
    bodyLimit: 32 * 1024 * 1024,
    quiet: true,
    replies: { 200: OutputAnswer },
    async handle(call) {
      const { scheduler, params, bytes, signal } = call;
      const workerId = pathId(params, 'worker_not_found');
      await authorizeWorker(call, workerId);
      const frames = decodeFrames(bytes);
      const chunks = frames.map((frame) => ({ ...frame, workerId }));
      const held = chunks.length === 0 ? [] : await scheduler.writeLogs(chunks, signal);
      const items = frames.map(({ jobId, attempt }, index) => {
        return { job_id: String(jobId), attempt, held: held[index] === true };
      });
      return { status: 200, json: { items } };
    },
  }),

  readCheckpoint: handler(routes.readCheckpoint, {
    summary: 'Read the checkpoint from which the next attempt of a job can continue: the bytes as they were written',
    long: true,
    replies: { 200: { type: CHECKPOINT_TYPES.bytes } },
    async handle(call) {
      const { scheduler, params, streams, signal } = call;
      const id = pathId(params);
      await authorizeHolder(call, id);
      const checkpoint = await scheduler.checkpoint(id, signal);
      if (checkpoint === null) throw new WorkronError('not_found', `Job ${id} has no checkpoint`, { jobId: id });
      const headers = { 'content-length': String(checkpoint.bytes) };
      const chunks = releaseAfter(streams.take(), checkpoint.chunks());
      return { status: 200, type: CHECKPOINT_TYPES[checkpoint.kind], headers, chunks };
    },
  }),

  writeCheckpoint: handler(routes.writeCheckpoint, {
    summary: 'Replace the checkpoint of a job: the body is the bytes as they are, at most 64 MiB',
    query: CheckpointUploadQuery,
    rawBody: CHECKPOINT_TYPES.bytes,
    streamed: true,
    quiet: true,
    replies: { 200: CheckpointWritten },
    async handle(call) {
      const { scheduler, params, query, headers, stream, signal } = call;
      const jobId = pathId(params);
      const { attempt, worker_id: workerId } = query;
      await authorizeWorker(call, workerId);
      if (Number(headers['content-length'] ?? 0) > MAX_CHECKPOINT_BYTES) throw checkpointTooLarge();
      const kind = checkpointKindOf(headers['content-type']);
      const bytes = await scheduler.writeCheckpoint({ jobId, attempt, workerId, kind, chunks: stream }, signal);
      if (bytes === null) throw notHeld({ jobId, attempt, workerId });
      return { status: 200, json: { bytes } };
    },
  }),
};

function notHeld({ jobId, attempt, workerId }: LeaseRef & { workerId: number }): WorkronError {
  const detail = `Attempt ${attempt} of job ${jobId} is not held by worker ${workerId}`;
  return new WorkronError('lease_lost', detail, { jobId });
}

function resumeAt(lastEventId: string | string[] | undefined): Omit<Position, 'id'> | undefined {
  const match = /^(\d{1,9})-(\d{1,15})$/.exec(typeof lastEventId === 'string' ? lastEventId : '');
  return match === null ? undefined : { attempt: Number(match[1]), from: Number(match[2]) };
}
