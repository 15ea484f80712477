import { z } from 'zod';
import { numberInQuery, storeId } from '../../api/fields.ts';
import { named } from '../../api/schemas.ts';
import { WorkronError } from '../../core/error.ts';
import { pathId } from '../path-id.ts';
import { defineRoute } from '../route.ts';

export const writeLogs = defineRoute({
  method: 'POST',
  path: '/jobs/:id/logs',
  scope: 'work',
  summary: 'A worker hands in a piece of output: the body is the bytes as they are',
  query: z.object({
    worker_id: storeId,
    attempt: numberInQuery(1, 2 ** 31 - 1),
    offset: numberInQuery(0, Number.MAX_SAFE_INTEGER).meta({
      description: 'How many bytes came before these. The same offset twice is stored once.',
    }),
  }),
  rawBody: 'application/octet-stream',
  bodyLimit: 16 * 1024 * 1024,
  quiet: true,
  answers: { 200: named('LogPosition', z.object({ next_offset: z.number() })) },
  async handle({ scheduler, params, query, bytes, signal }) {
    const jobId = pathId(params);
    const { attempt, worker_id: workerId, offset } = query;
    if (bytes.length > 0) {
      const [held] = await scheduler.writeLogs([{ jobId, attempt, workerId, offset, data: bytes }], signal);
      if (!held) throw leaseLost(jobId, attempt, workerId);
    }
    return { status: 200, json: { next_offset: offset + bytes.length } };
  },
});

function leaseLost(jobId: number, attempt: number, workerId: number): WorkronError {
  return new WorkronError('lease_lost', `Attempt ${attempt} of job ${jobId} is not held by worker ${workerId}`, {
    jobId,
  });
}
