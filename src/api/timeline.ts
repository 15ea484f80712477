/** The timeline: what the schedules did, and what they will do. */

import { z } from 'zod';
import { duration, instantOrAgo, numberInQuery, wireInstant } from './fields.ts';
import { ScheduleDetail } from './schedule.ts';
import { named, strict } from './schemas.ts';
import { LedgerEntry } from './tick.ts';

const MAX_TIMELINE_EACH = 500;

export const TimelineQuery = strict({
  from: instantOrAgo.exactOptional(),
  ahead: duration(0)
    .meta({ description: 'How far to look into the future. 6h by default.', examples: ['6h'] })
    .exactOptional(),
  each: numberInQuery(1, MAX_TIMELINE_EACH)
    .meta({ description: 'The largest number of past and of future ticks per schedule. 100 by default.' })
    .exactOptional(),
});

export const Timeline = named(
  'Timeline',
  z.object({
    from: wireInstant,
    now: wireInstant,
    until: wireInstant,
    complete: z.boolean().meta({ description: 'False if there are more schedules than these.' }),
    schedules: z.array(
      z.object({
        schedule: ScheduleDetail,
        ticks: z.array(LedgerEntry).meta({ description: 'Ticks that were judged since `from`, newest first.' }),
        next: z.array(wireInstant).meta({ description: 'Ticks to come, in order; none while it is paused.' }),
      }),
    ),
  }),
);
export type Timeline = z.output<typeof Timeline>;
