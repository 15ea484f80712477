import { z } from 'zod';
import { numberInQuery } from '../../api/fields.ts';
import { strict } from '../../api/schemas.ts';
import { WorkronError } from '../../core/error.ts';
import { followLog, type LogPosition, readLog } from '../follow-log.ts';
import { logAsEvents, logAsText } from '../log-text.ts';
import { pathId } from '../path-id.ts';
import { releaseAfter } from '../release-after.ts';
import { defineRoute } from '../route.ts';
import { SSE_TYPE, wantsEvents } from '../sse.ts';

const TEXT_TYPE = 'text/plain; charset=utf-8';

export const readLogs = defineRoute({
  method: 'GET',
  path: '/jobs/:id/logs',
  scope: 'read',
  summary: 'What a job printed, as plain text; followed to its end with follow=true or as events',
  query: strict({
    attempt: numberInQuery(1, 2 ** 31 - 1)
      .meta({ description: 'The present or last one unless given.', examples: [1] })
      .exactOptional(),
    follow: z
      .enum(['true', 'false'])
      .meta({ examples: ['false'] })
      .exactOptional(),
  }),
  long: true,
  answers: { 200: { type: 'text/plain' } },
  async handle({ scheduler, params, query, headers, streams, signal }) {
    const id = pathId(params);
    // Before the first byte: an unknown job must still become a 404.
    const job = await scheduler.wait(id, 0, signal);
    const seat = streams.take();
    if (wantsEvents(headers.accept)) {
      const position = resumeAt(headers['last-event-id']) ?? { attempt: query.attempt ?? null, from: 0 };
      const items = followLog(scheduler, { id, ...position, only: query.attempt !== undefined }, signal);
      return { status: 200, type: SSE_TYPE, chunks: releaseAfter(seat, logAsEvents(items)) };
    }
    const position: LogPosition = { id, attempt: query.attempt ?? null, from: 0 };
    if (query.follow === 'true') {
      const items = followLog(scheduler, { ...position, only: query.attempt !== undefined }, signal);
      return { status: 200, type: TEXT_TYPE, chunks: releaseAfter(seat, logAsText(items)) };
    }
    if (query.attempt !== undefined && query.attempt > job.attempt) {
      seat[Symbol.dispose]();
      throw new WorkronError('not_found', `Job ${id} has had ${job.attempt} attempts, so there is no ${query.attempt}`);
    }
    return {
      status: 200,
      type: TEXT_TYPE,
      chunks: releaseAfter(seat, logAsText(readLog(scheduler, position, signal))),
    };
  },
});

function resumeAt(lastEventId: string | string[] | undefined): Omit<LogPosition, 'id'> | undefined {
  const match = /^(\d{1,9})-(\d{1,15})$/.exec(typeof lastEventId === 'string' ? lastEventId : '');
  return match === null ? undefined : { attempt: Number(match[1]), from: Number(match[2]) };
}
