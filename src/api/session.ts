/** The session of a user of the dashboard. */

import { z } from 'zod';
import { named } from './schemas.ts';

export const Session = named(
  'Session',
  z.object({
    name: z.string(),
    token_needed: z
      .boolean()
      .meta({ description: 'True if the server needs a token, so that logging out makes sense.' }),
  }),
);
export type Session = z.output<typeof Session>;
