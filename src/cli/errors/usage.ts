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

/** `--limit: expected a whole number from 1, got "x"`. */
function invalidValue(error: CommanderError): CommanderError {
  const [, flag, value = '', expected = '', more = ''] =
    /^error: option '(?:-\w, )?(--[\w-]+)[^']*' argument '([^]*)' is invalid\. (.*)([^]*)$/.exec(error.message) ?? [];
  if (flag === undefined) return error;
  const shown = value.length > MAX_SHOWN ? `${value.slice(0, MAX_SHOWN)}…` : value;
  return new CommanderError(
    error.exitCode,
    error.code,
    `error: ${flag}: ${expected}, got ${JSON.stringify(shown)}${more}`,
  );
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
