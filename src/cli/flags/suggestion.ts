/** What a person may have meant by a flag that is not there. */

import { type Command, CommanderError } from 'commander';
import { nearestWord } from '../../core/suggest.ts';

/** Commander knows words that are spelt alike; beginnings of a word (`--prio`) are told by ours. */
export function withSuggestion(command: Command, error: CommanderError): CommanderError {
  const [, flag] = /^error: unknown option '--([^'=]+)[^']*'$/.exec(error.message) ?? [];
  if (error.code !== 'commander.unknownOption' || flag === undefined) return error;
  const nearest = nearestWord(flag, flagsOf(command));
  if (nearest === undefined) return error;
  return new CommanderError(error.exitCode, error.code, `${error.message}\n(Did you mean --${nearest}?)`);
}

/** Without their dashes: those of the command, and of what it belongs to. */
function flagsOf(command: Command): string[] {
  const own = command.createHelp().visibleOptions(command);
  const names = own.flatMap(({ long }) => (long == null ? [] : [long.slice(2)]));
  return command.parent === null ? names : [...names, ...flagsOf(command.parent)];
}
