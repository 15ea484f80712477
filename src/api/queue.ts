/** Queues on the wire. */

import { z } from 'zod';
import type { QueueState } from '../core/queue.ts';
import { toInstantOrNull, wholeNumber, wireInstant } from './fields.ts';
import { rateFields } from './meters.ts';
import { itemsOf, named, strict } from './schemas.ts';

export const Queue = named(
  'Queue',
  z.object({
    name: z.string(),
    paused: z.boolean(),
    paused_at: wireInstant.nullable(),
    max_running: z.number().nullable(),
    rate: z
      .object({ limit: z.number(), per: z.number().meta({ description: 'Milliseconds.' }), burst: z.number() })
      .nullable()
      .meta({ description: 'How many attempts of its jobs start in a while.' }),
    blocked: z.number(),
    scheduled: z.number(),
    pending: z.number(),
    running: z.number(),
    oldest_pending_at: wireInstant.nullable(),
  }),
);
export type Queue = z.output<typeof Queue>;

export const QueueList = named('QueueList', itemsOf(Queue));

/** `max_running: null` removes the limit, `rate: null` the rate. */
export const QueueEdit = named(
  'QueueEdit',
  strict({
    paused: z.boolean().exactOptional(),
    max_running: wholeNumber(0, 1_000_000).nullable().exactOptional(),
    rate: strict(rateFields).nullable().exactOptional(),
  }).refine((edit) => Object.keys(edit).length > 0, 'expected paused, max_running or rate'),
);
export type QueueEdit = z.output<typeof QueueEdit>;
export type QueueEditInput = z.input<typeof QueueEdit>;

export function queueToWire(queue: QueueState): Queue {
  return {
    name: queue.name,
    paused: queue.paused,
    paused_at: toInstantOrNull(queue.pausedAt),
    max_running: queue.maxRunning,
    rate: queue.rate === null ? null : { limit: queue.rate.limit, per: queue.rate.perMs, burst: queue.rate.burst },
    blocked: queue.blocked,
    scheduled: queue.scheduled,
    pending: queue.pending,
    running: queue.running,
    oldest_pending_at: toInstantOrNull(queue.oldestPendingAt),
  };
}

export function queueRateFrom(rate: NonNullable<QueueEdit['rate']> | null): QueueState['rate'] {
  return rate === null ? null : { limit: rate.limit, perMs: rate.per, burst: rate.burst ?? 0 };
}
