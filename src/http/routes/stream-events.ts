import { Event } from '../../api/event.ts';
import { releaseAfter } from '../release-after.ts';
import { defineRoute } from '../route.ts';
import { SSE_TYPE } from '../sse.ts';

export const streamEvents = defineRoute({
  method: 'GET',
  path: '/events',
  scope: 'read',
  summary: 'Hints that something changed, as server-sent events; after `reset`, fetch what you show',
  long: true,
  answers: { 200: { type: SSE_TYPE, schema: Event } },
  async handle({ events, headers, streams, signal }) {
    const lastEventId = headers['last-event-id'];
    const chunks = releaseAfter(streams.take(), events.stream(String(lastEventId ?? ''), signal));
    return { status: 200, type: SSE_TYPE, chunks };
  },
});
