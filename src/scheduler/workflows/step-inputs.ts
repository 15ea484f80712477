/** Checks the inputs of steps against the handlers of this process. Handlers elsewhere check when the step runs. */

import type { NewSteps } from '../../core/dag/new-workflow.ts';
import { WorkronError } from '../../core/error.ts';

interface InputIssue {
  /** Where in the input, as a JSON pointer. */
  pointer: string;
  detail: string;
}

/** Lists what is wrong with an input. */
type InputCheck = (input: unknown) => readonly InputIssue[] | Promise<readonly InputIssue[]>;

/** The checks of this process by handler. */
export type InputChecks = Map<string, InputCheck>;

/** Rejects with `bad_request`, which names every step and field. */
export async function checkStepInputs(checks: InputChecks, steps: NewSteps): Promise<void> {
  if (checks.size === 0) return;
  const errors: InputIssue[] = [];
  for (const { key, job, keepFrom } of steps) {
    const check = job.handler === null || keepFrom !== null ? undefined : checks.get(job.handler);
    if (check === undefined) continue;
    for (const { pointer, detail } of await check(job.input)) {
      const field = pointer === '' ? '' : `${pointer}: `;
      // Steps are in the order of their dependencies, so the place in the request is not known.
      errors.push({ pointer: '/steps', detail: `step ${key}: the input of ${job.handler}: ${field}${detail}` });
    }
  }
  const [first] = errors;
  if (first === undefined) return;
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : '';
  throw new WorkronError('bad_request', `${first.detail}${more}`, { errors });
}
