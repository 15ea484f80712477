/** Hints that something changed, for programs that show it. They are not a history: after a `reset`, fetch what you show again. */

import { z } from 'zod';
import { wireId } from './fields.ts';
import { named, strict } from './schemas.ts';

const EVENT_TOPICS = ['jobs', 'queues', 'workers'] as const;
export type EventTopic = (typeof EVENT_TOPICS)[number];

/** The number of unfinished jobs by state. */
export const LiveCounts = named(
  'LiveCounts',
  z.object({ blocked: z.number(), scheduled: z.number(), pending: z.number(), running: z.number() }),
);
export type LiveCounts = z.output<typeof LiveCounts>;

export const Event = named(
  'Event',
  z.object({
    topic: z.enum(EVENT_TOPICS),
    ids: z.array(wireId).exactOptional().meta({ description: 'The ids that changed; absent if there are too many.' }),
    counts: LiveCounts.exactOptional().meta({ description: 'With `queues`: the number of jobs now.' }),
  }),
);
export type Event = z.output<typeof Event>;

export const EventsQuery = strict({
  after: z
    .string()
    .max(300)
    .meta({ description: 'The id of the last event that was seen, as in the header Last-Event-ID.' })
    .exactOptional(),
});

/** A chunk of output of a followed job. */
export const OutputEvent = named(
  'OutputEvent',
  z.object({
    attempt: z.number(),
    offset: z.number(),
    text: z.string(),
    received_at: z.string().meta({ description: 'When the server received it.' }),
    base64: z
      .string()
      .exactOptional()
      .meta({ description: 'The bytes themselves, if they are not UTF-8; text then has U+FFFD in their place.' }),
  }),
);
export type OutputEvent = z.output<typeof OutputEvent>;

/** Output that was too long to keep: `bytes` bytes are missing before `offset`. */
export const CutEvent = named('CutEvent', z.object({ attempt: z.number(), offset: z.number(), bytes: z.number() }));
export type CutEvent = z.output<typeof CutEvent>;
