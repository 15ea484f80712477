/** How it went, minute by minute. */

import { z } from 'zod';
import { duration, instantOrAgo, wireInstant } from './fields.ts';
import { named, strict } from './schemas.ts';

export const STAT_OUTCOMES = ['submitted', 'done', 'failed', 'cancelled', 'skipped', 'retried'] as const;

export const StatsQuery = strict({
  from: instantOrAgo.exactOptional(),
  to: instantOrAgo.exactOptional(),
  step: duration(60_000)
    .meta({ examples: ['15m'], description: 'Sums the minutes of each such span; an item is named by its beginning.' })
    .exactOptional(),
  by: z
    .enum(['queue', 'outcome'])
    .meta({ description: 'outcome sums the queues too; an item then has the queue "*". queue unless given.' })
    .exactOptional(),
});

export const Stats = named(
  'Stats',
  z.object({
    from: wireInstant,
    to: wireInstant,
    buckets: z
      .array(z.number())
      .meta({ description: 'Upper bounds of the histograms in milliseconds; one more for all beyond.' }),
    totals: z.record(z.enum(STAT_OUTCOMES), z.number()),
    items: z.array(
      z.object({
        minute: wireInstant,
        queue: z.string(),
        outcome: z.enum(STAT_OUTCOMES),
        count: z.number(),
        wait: z.array(z.number()),
        run: z.array(z.number()),
      }),
    ),
  }),
);
export type Stats = z.output<typeof Stats>;
