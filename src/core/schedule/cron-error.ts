import { WorkronError } from '../error.ts';

/** What is wrong with an expression: the field, what was expected there, what came. */
export function cronError(field: string, expected: string, came: string): WorkronError {
  return new WorkronError(
    'schedule_invalid',
    `cron: ${field}: expected ${expected}, got ${JSON.stringify(came.slice(0, 64))}`,
  );
}
