/** Exit codes of the command line. `workron help exit-codes` prints the table. */

import { constants } from 'node:os';
import type { ReceivedProblem } from '../../api/problem.ts';

export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  notFound: 3,
  refused: 4,
  conflict: 5,
  unreachable: 6,
  timeout: 124,
  workronFailed: 125,
  interrupted: 130,
} as const;

export const EXIT_MEANINGS: readonly [string, string][] = [
  ['0', 'success; for run and wait: the job is done; for a followed workflow: it is done'],
  ['1', 'it failed; for a followed workflow: it failed or was cancelled'],
  ['2', 'the command line, a setting, a file or a field of the job is wrong; nothing was done'],
  ['3', 'no such job, workflow, queue or worker'],
  ['4', 'refused: the token is missing, wrong, or may not do this'],
  ['5', 'conflict: the job is not in a state that allows it, or a unique key is taken'],
  ['6', 'cannot connect to Workron there, or it is unavailable at the moment'],
  ['run, wait', "the job's own exit code"],
  ['128+n', 'run, wait: a signal ended the job (137: SIGKILL, 143: SIGTERM)'],
  ['124', 'run, wait: the job, or the waiting, took too long'],
  [
    '125',
    'run, wait: not the job but Workron failed: not reachable, refused, or the job was cancelled, lost or expired',
  ],
  ['130', 'run, wait: interrupted by Ctrl-C; the job goes on unless it was cancelled'],
];

/** The fields of an ended job that decide the exit code. */
interface Ending {
  status: string;
  reason?: string | null | undefined;
  exit_code?: number | null | undefined;
  signal?: string | null | undefined;
}

/** The exit code of `run` and `wait` for an ended job. */
export function exitCodeOf(job: Ending): number {
  if (job.status === 'done') return EXIT.ok;
  if (job.reason === 'timeout') return EXIT.timeout;
  if (job.status !== 'failed') return EXIT.workronFailed;
  if (job.signal) return 128 + signalNumber(job.signal);
  if (job.exit_code) return job.exit_code;
  return job.reason === 'lost' || job.reason === 'interrupted' || job.reason === 'expired'
    ? EXIT.workronFailed
    : EXIT.failed;
}

/** The exit code for a response that is not 2xx. */
export function exitCodeOfStatus(httpStatus: number): number {
  if (httpStatus === 401 || httpStatus === 403) return EXIT.refused;
  if (httpStatus === 404) return EXIT.notFound;
  if (httpStatus === 409) return EXIT.conflict;
  if (httpStatus === 429 || httpStatus === 502 || httpStatus === 503 || httpStatus === 504) return EXIT.unreachable;
  return httpStatus >= 400 && httpStatus < 500 ? EXIT.usage : EXIT.failed;
}

function signalNumber(name: string): number {
  return constants.signals[name as NodeJS.Signals] ?? 0;
}

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
