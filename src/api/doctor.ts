/** What `workron doctor` and the dashboard show. */

import { z } from 'zod';
import { named } from './schemas.ts';

/** What a check of the doctor has found. */
export const Finding = named(
  'Finding',
  z.object({
    check: z.string(),
    state: z
      .enum(['ok', 'warning', 'bad'])
      .meta({ description: 'bad: something does not work. warning: it works, but not as well as it could.' }),
    detail: z.string(),
    advice: z.string().nullable().meta({ description: 'What to do about it; null if nothing is to be done.' }),
  }),
);
export type Finding = z.output<typeof Finding>;

export const Findings = named('Findings', z.object({ items: z.array(Finding) }));
export type Findings = z.output<typeof Findings>;
