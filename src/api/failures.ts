/** Recent failures, grouped by title and error. */

import { z } from 'zod';
import { instantOrAgo, wireId, wireInstant } from './fields.ts';
import { named, strict } from './schemas.ts';

export const FailuresQuery = strict({ from: instantOrAgo.exactOptional() });

export const Failures = named(
  'Failures',
  z.object({
    from: wireInstant,
    scanned: z.number().meta({ description: 'How many failed jobs were looked at: the newest.' }),
    complete: z.boolean().meta({ description: 'Whether those were all since `from`.' }),
    items: z.array(
      z.object({
        title: z.string().meta({ description: 'The name, else the step, the handler or the command.' }),
        name: z.string().nullable(),
        error: z.string().meta({ description: 'Its first line, without what differs each time.' }),
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
