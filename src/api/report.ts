/** Progress of attempts. */

import { z } from 'zod';
import type { Progress as DomainProgress } from '../core/job.ts';
import { cleanText } from '../core/text.ts';
import { storeId, wireId } from './fields.ts';
import { attemptNumber } from './heartbeat.ts';
import { itemsOf, named } from './schemas.ts';

const MAX_TEXT_LENGTH = 1_024;
const MAX_REPORTS = 1_000;

export const Progress = named(
  'Progress',
  z.object({ fraction: z.number().meta({ description: 'From 0 to 1.' }), text: z.string().nullable() }),
);

const progress = z.object({
  fraction: z.number().min(0).max(1),
  text: z
    .string()
    .transform((value) => cleanText(value.slice(0, MAX_TEXT_LENGTH)))
    .nullable()
    .default(null),
});

export const ReportRequest = named(
  'ReportRequest',
  z.object({
    items: z
      .array(
        z.object({
          job_id: storeId,
          attempt: attemptNumber,
          progress,
        }),
      )
      .max(MAX_REPORTS),
  }),
);

export const ReportAnswer = named(
  'ReportAnswer',
  itemsOf(z.object({ job_id: wireId, attempt: z.number(), held: z.boolean() })),
);

/** Returns progress as it can be stored: a fraction from 0 to 1, and text without unprintable characters. */
export function progressFrom(fraction: number, text: string | null): DomainProgress {
  const within = Number.isNaN(fraction) ? 0 : Math.min(1, Math.max(0, fraction));
  return { fraction: within, text: text === null ? null : cleanText(text.slice(0, MAX_TEXT_LENGTH)) };
}
