/** How it went, minute by minute. */

import { z } from 'zod';
import { instantOrAgo, wireInstant } from './fields.ts';
import { named, strict } from './schemas.ts';

export const STAT_OUTCOMES = ['submitted', 'done', 'failed', 'cancelled', 'skipped', 'retried'] as const;

export const StatsQuery = strict({
  from: instantOrAgo.exactOptional(),
  to: instantOrAgo.exactOptional(),
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
