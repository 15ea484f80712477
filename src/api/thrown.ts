/** The error of a handler, as programs read it. */

import { z } from 'zod';
import { named } from './schemas.ts';

const shape = {
  name: z.string().meta({ description: 'The class of the error.' }),
  message: z.string(),
  code: z.string().nullable().meta({ description: 'The code of the error, if it has one.' }),
};

export const ThrownError = named(
  'ThrownError',
  z.object({
    ...shape,
    details: z.unknown().meta({ description: 'JSON, as the handler gave it; null for none.' }),
    causes: z
      .array(z.object(shape))
      .max(16)
      .meta({ description: 'The cause of the error, the cause of that, and so on.' }),
  }),
);
