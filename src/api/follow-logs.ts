/** Follows the output of a job over connections that may break. */

import { type CallOptions, EVENTS, type LogEvent } from './client-requests.ts';
import { clientRoutes as routes } from './client-routes.ts';
import type { CutEvent, OutputEvent } from './event.ts';
import { readEvents } from './event-stream.ts';
import { type HttpClient, textChunks } from './http-client.ts';
import type { Job } from './job.ts';

/** Yields what the job has printed and prints, until it has ended. Reconnects if the connection breaks. */
export async function* followLogs(
  http: HttpClient,
  id: string,
  { attempt, ...options }: CallOptions & { attempt?: number } = {},
): AsyncGenerator<LogEvent> {
  let last: string | undefined;
  for (let failures = 0; ; failures += 1) {
    const headers = last === undefined ? EVENTS : { ...EVENTS, 'last-event-id': last };
    const call = { params: { id }, query: { attempt }, headers, ...options };
    const { body } = await http.open(routes.readLogs, call);
    try {
      for await (const { event, id: eventId, data } of readEvents(textChunks(body))) {
        if (event === 'end') return yield { type: 'end', job: JSON.parse(data) as Job };
        if (event === 'output') yield { type: 'output', ...(JSON.parse(data) as OutputEvent) };
        if (event === 'cut') yield { type: 'cut', ...(JSON.parse(data) as CutEvent) };
        last = eventId ?? last;
        failures = 0;
      }
    } catch (error) {
      options.signal?.throwIfAborted();
      if (failures >= 3) throw http.unreachable(error);
    }
  }
}
