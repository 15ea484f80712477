/** The command line's own way to stop: one sentence, a hint, an exit code. */

import { EXIT } from './exit-code.ts';

/** A problem document, as the API sends it and `--json` prints it. */
export interface Problem {
  title: string;
  status?: number;
  code?: string;
  detail?: string;
  [key: string]: unknown;
}

export class CliError extends Error {
  readonly exitCode: number;
  readonly hint: string | undefined;
  readonly problem: Problem | undefined;

  constructor(exitCode: number, message: string, more: { hint?: string | undefined; problem?: Problem } = {}) {
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
