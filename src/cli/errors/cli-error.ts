/** Errors of the command line: a message, a hint and an exit code. */

import type { ReceivedProblem } from '../../api/problem.ts';
import { EXIT } from './exit-code.ts';

export class CliError extends Error {
  readonly exitCode: number;
  readonly hint: string | undefined;
  readonly problem: ReceivedProblem | undefined;

  constructor(exitCode: number, message: string, more: { hint?: string | undefined; problem?: ReceivedProblem } = {}) {
    super(message);
    this.name = 'CliError';
    this.exitCode = exitCode;
    this.hint = more.hint;
    this.problem = more.problem;
  }
}

export function usageError(message: string, hint?: string): CliError {
  return new CliError(EXIT.usage, message, { hint });
}
