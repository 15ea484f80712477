/** Converts every error of a command to a `CliError`: a message, a hint and an exit code. */

import { CommanderError } from 'commander';
import { isWorkronError } from '../../core/error.ts';
import { CliError, usageError } from './cli-error.ts';
import { EXIT, exitCodeOfStatus } from './exit-code.ts';
import { fieldLines } from './field-names.ts';

/** `undefined` if nothing failed: help and version also end a command early. */
export function failureOf(error: unknown, args: readonly string[]): CliError | undefined {
  if (error instanceof CommanderError) return error.exitCode === 0 ? undefined : usageOf(error, args);
  if (error instanceof CliError) return error;
  if (isWorkronError(error)) {
    const problem = { title: error.message, status: error.httpStatus, code: error.code };
    const message = fieldLines(error.details.errors, paramName) ?? error.message;
    return new CliError(exitCodeOfStatus(error.httpStatus), message, { problem });
  }
  if (isListenError(error)) {
    return new CliError(EXIT.failed, `cannot listen on ${error.address}:${error.port} (${error.code})`, {
      hint: error.code === 'EADDRINUSE' ? 'something listens there already; --port takes another one' : undefined,
    });
  }
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return new CliError(EXIT.failed, message, { problem: { title: message, code: 'internal' } });
}

/** Of what is checked without a server, only parameters have a flag. */
function paramName(pointer: string): string {
  return pointer.replace(/^\/params\//, '--param ');
}

interface ListenError extends NodeJS.ErrnoException {
  address: string;
  port: number;
}

function isListenError(error: unknown): error is ListenError {
  return error instanceof Error && (error as NodeJS.ErrnoException).syscall === 'listen' && 'port' in error;
}

/** Converts Commander's usage errors: `unknown option '--prot'`, hint `did you mean --port?`. */
function usageOf(error: CommanderError, args: readonly string[]): CliError {
  const [first = '', ...more] = error.message.replace(/^error: /, '').split('\n');
  const suggestion = more.join(' ').replace(/^\(Did you mean (.*)\?\)$/, 'did you mean $1?');
  const takesCommand = args[0] === 'submit' || args[0] === 'run';
  const forCommand = takesCommand && error.code === 'commander.unknownOption' && !args.includes('--');
  return usageError(first, suggestion || (forCommand ? 'put -- before the command of the job' : undefined));
}

/** Exit codes that `run` and `wait` keep: usage errors and unknown jobs. */
const KEPT: readonly number[] = [EXIT.usage, EXIT.notFound];

/** For `run` and `wait`, which exit with the code of the job: turns other errors into 125, a failure of Workron itself. */
export async function ownFailure(action: () => Promise<void>): Promise<void> {
  try {
    await action();
  } catch (error) {
    if (!(error instanceof CliError) || KEPT.includes(error.exitCode)) throw error;
    const { hint, problem } = error;
    throw new CliError(EXIT.workronFailed, error.message, { hint, ...(problem === undefined ? {} : { problem }) });
  }
}
