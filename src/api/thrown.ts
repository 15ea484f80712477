/** Why a job failed: the line for people, and the error of a handler as programs read it. */

import { z } from 'zod';
import { failureLine } from '../core/failure-line.ts';
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
    errors: z
      .array(z.object(shape))
      .max(16)
      .optional()
      .meta({ description: 'The errors that it stands for, as those of an AggregateError; the first 16.' }),
  }),
);

export const Failure = named(
  'Failure',
  z.object({ line: z.string().meta({ description: 'The line of `error` that tells what went wrong.' }) }),
);

export function failureToWire(error: string | null): z.output<typeof Failure> | null {
  return error === null ? null : { line: failureLine(error) };
}
