/** Says what is wrong with a command line in the words of this program, where Commander's own are hard to read. */

import { type Command, CommanderError } from 'commander';
import { nearestWord } from '../../core/suggest.ts';
import { type CliError, usageError } from './cli-error.ts';

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

/** Commander suggests words with a similar spelling. This also suggests words by their beginning (`--prio`). */
function withSuggestion(command: Command, error: CommanderError): CommanderError {
  const [, flag] = /^error: unknown option '--([^'=]+)[^']*'$/.exec(error.message) ?? [];
  const nearest = flag === undefined ? undefined : nearestWord(flag, flagsOf(command));
  if (nearest === undefined) return error;
  return new CommanderError(error.exitCode, error.code, `${error.message}\n(Did you mean --${nearest}?)`);
}

/** The flags of the command and of its parents, without dashes. */
function flagsOf(command: Command): string[] {
  const own = command.createHelp().visibleOptions(command);
  const names = own.flatMap(({ long }) => (long == null ? [] : [long.slice(2)]));
  return command.parent === null ? names : [...names, ...flagsOf(command.parent)];
}

/** `workron queues pause`. */
function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}
