/** Recent failures, grouped by title and error. */

import { z } from 'zod';
import { instantOrAgo, wireId, wireInstant } from './fields.ts';
import { named, strict } from './schemas.ts';

export const FailuresQuery = strict({ from: instantOrAgo.exactOptional() });

export const Failures = named(
  'Failures',
  z.object({
    from: wireInstant,
    scanned: z.number().meta({ description: 'The number of failed jobs that were examined, newest first.' }),
    complete: z.boolean().meta({ description: 'True if those are all failures since `from`.' }),
    items: z.array(
      z.object({
        title: z.string().meta({ description: 'The name of the job, or its step, handler or command.' }),
        name: z.string().nullable(),
        error: z
          .string()
          .meta({ description: 'The first line of the error, without ids and numbers that differ each time.' }),
        count: z.number(),
        queues: z.array(z.string()),
        first_at: wireInstant,
        last_at: wireInstant,
        last_job_id: wireId,
      }),
    ),
  }),
);
export type Failures = z.output<typeof Failures>;
