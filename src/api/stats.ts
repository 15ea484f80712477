/** Statistics by minute, queue and outcome. */

import { z } from 'zod';
import { STAT_BUCKETS_MS, STAT_OUTCOMES, type StatRow } from '../core/stats.ts';
import { duration, instantOrAgo, toInstant, wireInstant } from './fields.ts';
import { named, strict } from './schemas.ts';

export const StatsQuery = strict({
  from: instantOrAgo.exactOptional(),
  to: instantOrAgo.exactOptional(),
  step: duration(60_000)
    .meta({
      examples: ['15m'],
      description: 'Sums the minutes of each span of this length; the minute of an item is the start of its span.',
    })
    .exactOptional(),
  by: z
    .enum(['queue', 'outcome'])
    .meta({ description: 'outcome sums all queues, and items have the queue "*". The default is queue.' })
    .exactOptional(),
});

const TOTALS = Object.fromEntries(STAT_OUTCOMES.map((outcome) => [outcome, z.number()])) as Record<
  StatRow['outcome'],
  z.ZodNumber
>;

export const Stats = named(
  'Stats',
  z.object({
    from: wireInstant,
    to: wireInstant,
    buckets: z.array(z.number()).meta({
      description:
        'The upper bounds of the histograms in milliseconds; histograms have one more bucket for larger values.',
    }),
    totals: z.object(TOTALS),
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

export function statsToWire(range: { from: number; to: number }, rows: readonly StatRow[]): Stats {
  const totals = Object.fromEntries(STAT_OUTCOMES.map((outcome) => [outcome, 0])) as Stats['totals'];
  for (const row of rows) totals[row.outcome] += row.count;
  return {
    from: toInstant(range.from),
    to: toInstant(range.to),
    buckets: [...STAT_BUCKETS_MS],
    totals,
    items: rows.map((row) => ({
      minute: toInstant(row.minute),
      queue: row.queue,
      outcome: row.outcome,
      count: row.count,
      wait: [...row.wait],
      run: [...row.run],
    })),
  };
}
