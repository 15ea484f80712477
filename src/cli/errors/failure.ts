/** Converts every error of a command to a `CliError`: a message, a hint and an exit code. */

import { type Command, CommanderError } from 'commander';
import { isWorkronError } from '../../core/error.ts';
import { nearestWord } from '../../core/suggest.ts';
import { FILTER_FLAGS } from '../flags/filter.ts';
import { CliError, EXIT, exitCodeOfStatus, usageError } from './cli-error.ts';

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

const MAX_SHOWN = 60;

export function usageFailure(command: Command, error: CommanderError): CommanderError | CliError {
  switch (error.code) {
    case 'commander.unknownOption':
      return withSuggestion(command, error);
    case 'commander.invalidArgument':
      return invalidValue(error);
    case 'commander.missingArgument':
    case 'commander.missingMandatoryOptionValue':
      return usageError(error.message.replace(/^error: /, ''), `${pathOf(command)} ${command.usage()}`);
    case 'commander.unknownCommand':
      return error.message.includes('\n')
        ? error
        : usageError(error.message.replace(/^error: /, ''), `${pathOf(command)} --help lists the commands`);
    default:
      return error;
  }
}

const WRONG_FLAG =
  /^error: option '(?:-\w, )?(?<place>--[\w-]+)[^']*' argument '(?<value>[^]*)' is invalid\. (?<expected>.*)/;
const WRONG_ARGUMENT =
  /^error: command-argument value '(?<value>[^]*)' is invalid for argument '(?<place>\w+)'\. (?<expected>.*)/;

/** `--limit: expected a whole number from 1, got "x"`. */
function invalidValue(error: CommanderError): CommanderError {
  const found = WRONG_FLAG.exec(error.message) ?? WRONG_ARGUMENT.exec(error.message);
  if (found === null) return error;
  const { place = '', value = '', expected = '' } = found.groups ?? {};
  const where = place.startsWith('--') ? place : `the ${place}`;
  const shown = JSON.stringify(value.length > MAX_SHOWN ? `${value.slice(0, MAX_SHOWN)}…` : value);
  const wanted = expected.replace(/^Allowed choices are (.*)\.$/, 'expected $1');
  const message = `error: ${where}: ${wanted}, got ${shown}${error.message.slice(found[0].length)}`;
  return new CommanderError(error.exitCode, error.code, message);
}

/** Words of other programs, or of people, for flags of another spelling. */
const SYNONYMS: Readonly<Record<string, readonly string[]>> = {
  retries: ['max-attempts'],
  'max-retries': ['max-attempts'],
  attempts: ['max-attempts'],
  after: ['depends-on'],
  'after-failure': ['depends-on'],
  'after-any': ['depends-on'],
  dependency: ['depends-on'],
  at: ['run-at'],
  'dont-retry-on': ['no-retry-on'],
  'on-conflict': ['unique-on-conflict'],
  from: ['since'],
  to: ['until'],
  label: ['tag'],
  gpus: ['resources'],
  memory: ['resources'],
  cpus: ['resources'],
  concurrency: ['workers', 'max-running'],
  server: ['url'],
  database: ['db-url'],
  user: ['by', 'actor'],
};

/** Commander suggests words with a similar spelling. This also knows synonyms, and words by their beginning (`--prio`). */
function withSuggestion(command: Command, error: CommanderError): CommanderError {
  const [line = ''] = error.message.split('\n', 1);
  const [, flag = ''] = /^error: unknown option '--([^'=]+)[^']*'$/.exec(line) ?? [];
  const known = flagsOf(command);
  const meant = SYNONYMS[flag]?.find((word) => known.includes(word));
  if (meant === undefined && line !== error.message) return error;
  const nearest = meant ?? (flag === '' ? undefined : nearestWord(flag, known));
  if (nearest === undefined) return error;
  return new CommanderError(error.exitCode, error.code, `${line}\n(Did you mean --${nearest}?)`);
}

/** The flags of the command and of its parents, without dashes. */
function flagsOf(command: Command): string[] {
  const names = command.options.flatMap(({ long, hidden }) => (long == null || hidden ? [] : [long.slice(2)]));
  return command.parent === null ? names : [...names, ...flagsOf(command.parent)];
}

/** `workron queues pause`. */
function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}

/** Parts of a request whose fields have flags. */
const PARTS: readonly string[] = ['job', 'filter', 'workflow'];

/**
 * Names a field of a request as the user gave it: `--priority` for `/priority`, `--env A B` for `/env/A B`, `the name` for an
 * argument; by its pointer where neither set it. A flag has the name of its field; one that may be repeated, in the singular.
 */
export function fieldName(pointer: string, command: Command): string {
  if (command.opts<{ file?: string }>().file !== undefined) return pointer;
  const path = pointer.split('/').slice(1);
  const [first = '', ...rest] = PARTS.includes(path[0] ?? '') ? path.slice(1) : path;
  if (first === 'command') return 'the command';
  if (first === 'query') return 'filter';
  const known = command.options.map(({ long }) => long);
  const [whole, name] = [[first, ...rest].join('-'), first].map((text) => `--${text.replaceAll('_', '-')}`) as [
    string,
    string,
  ];
  if (known.includes(whole)) return whole;
  const filter = Object.keys(FILTER_FLAGS).find((key) => FILTER_FLAGS[key] === first);
  const flag = [`--${filter}`, name, name.replace(/s$/, '')].find((each) => known.includes(each));
  const argument = command.registeredArguments.find((each) => each.name() === first);
  if (flag === undefined) return argument === undefined || path[0] !== first ? pointer : `the ${first}`;
  return [flag, ...rest.filter((part) => !/^(\d+|key)$/.test(part))].join(' ');
}

/** One line for each wrong field; `undefined` if the error is about none. */
export function fieldLines(errors: unknown, nameOf: (pointer: string) => string): string | undefined {
  if (!Array.isArray(errors) || errors.length === 0) return undefined;
  const lines = (errors as { pointer: string; detail: string }[]).map(({ pointer, detail }) =>
    pointer === '' ? detail : `${nameOf(pointer)}: ${detail}`,
  );
  return lines.join('\n       ');
}
