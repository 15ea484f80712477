/** Hints that something changed, for whoever shows it. Not a history: after a `reset`, fetch what you show. */

import { z } from 'zod';
import { wireId } from './fields.ts';
import { named } from './schemas.ts';

export const EVENT_TOPICS = ['jobs', 'queues', 'workers'] as const;
export type EventTopic = (typeof EVENT_TOPICS)[number];

/** Unfinished jobs by state. */
export const LiveCounts = named(
  'LiveCounts',
  z.object({ blocked: z.number(), scheduled: z.number(), pending: z.number(), running: z.number() }),
);
export type LiveCounts = z.output<typeof LiveCounts>;

export const Event = named(
  'Event',
  z.object({
    topic: z.enum(EVENT_TOPICS),
    ids: z.array(wireId).exactOptional().meta({ description: 'What changed; absent where it was too much to tell.' }),
    counts: LiveCounts.exactOptional().meta({ description: 'With `queues`: how many jobs there are now.' }),
  }),
);
export type Event = z.output<typeof Event>;

/** A piece of output of a job that is followed. */
export const OutputEvent = named(
  'OutputEvent',
  z.object({ attempt: z.number(), offset: z.number(), text: z.string() }),
);
export type OutputEvent = z.output<typeof OutputEvent>;

/** Output was too long to keep: so many bytes are missing here. */
export const CutEvent = named('CutEvent', z.object({ attempt: z.number(), offset: z.number(), bytes: z.number() }));
export type CutEvent = z.output<typeof CutEvent>;
