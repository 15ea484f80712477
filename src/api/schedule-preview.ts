/** Previews of expressions: description and next ticks. */

import { z } from 'zod';
import { duration, instant, label, wholeNumber, wireInstant } from './fields.ts';
import { cronExpression } from './schedule.ts';
import { named, strict } from './schemas.ts';

export const SchedulePreviewRequest = named(
  'SchedulePreviewRequest',
  strict({
    cron: cronExpression.exactOptional(),
    every: duration(1_000)
      .meta({ examples: ['15m'] })
      .exactOptional(),
    anchor: instant.exactOptional(),
    timezone: label(64)
      .meta({ description: 'An IANA name. UTC by default.', examples: ['Europe/Berlin'] })
      .exactOptional(),
    from: instant.meta({ description: 'The start of the preview; now by default.' }).exactOptional(),
    count: wholeNumber(1, 100).meta({ description: 'The number of ticks; 10 by default.' }).exactOptional(),
  }).refine(
    (wire) => (wire.cron === undefined) !== (wire.every === undefined),
    'expected exactly one of cron and every',
  ),
);
export type SchedulePreviewRequestInput = z.input<typeof SchedulePreviewRequest>;

export const SchedulePreview = named(
  'SchedulePreview',
  z.object({
    description: z.string().nullable().meta({ description: 'The expression in words; null if there are none for it.' }),
    timezone: z.string(),
    items: z.array(
      z.object({
        utc: wireInstant,
        local: z.string().meta({ description: 'Local time in the zone, with its offset.' }),
        note: z
          .string()
          .nullable()
          .meta({ description: 'How the clock changes here, or has changed since the previous tick.' }),
      }),
    ),
  }),
);
export type SchedulePreview = z.output<typeof SchedulePreview>;
