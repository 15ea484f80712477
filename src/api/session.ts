/** Who is logged in to the page. */

import { z } from 'zod';
import { named } from './schemas.ts';

export const Session = named(
  'Session',
  z.object({
    name: z.string(),
    token_needed: z.boolean().meta({ description: 'Whether there is something to log out of.' }),
  }),
);
export type Session = z.output<typeof Session>;
