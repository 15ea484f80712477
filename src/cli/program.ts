/** The whole command line, or as much of it as one call needs. */

import { Command, CommanderError } from 'commander';
import { nearestWord } from '../core/suggest.ts';
import { version } from '../node/version.ts';
import { COMMANDS, type CommandEntry } from './commands.ts';

const VERSION_FLAGS = '-V, --version';

/**
 * Parsing it runs the command; usage errors are thrown, nothing exits the process. With the name of a command, that
 * one alone is loaded, and for the version none; with anything else all are, as help and suggestions speak of all.
 */
export async function createProgram(name?: string): Promise<Command> {
  const program = new Command('workron')
    .description('Workron runs jobs: on this machine, on others, now or later, and never loses one.')
    .version(version, VERSION_FLAGS, 'Print the version');
  const wanted = wantedFor(name);
  for (const { group, load } of wanted) program.addCommand((await load()).helpGroup(group));
  if (wanted === COMMANDS) await addHelp(program);
  prepare(program);
  return program;
}

function wantedFor(name: string | undefined): readonly CommandEntry[] {
  if (name === undefined) return COMMANDS;
  if (VERSION_FLAGS.split(', ').includes(name)) return [];
  const named = COMMANDS.filter(({ names }) => names.includes(name));
  return named.length === 0 ? COMMANDS : named;
}

async function addHelp(program: Command): Promise<void> {
  const { addHelpTopics } = await import('./commands/help.ts');
  addHelpTopics(program);
}

/** The same manners for every command, at any depth. */
function prepare(command: Command): void {
  command.exitOverride((error) => {
    throw withSuggestion(command, error);
  });
  command.configureOutput({ outputError: () => {} });
  command.helpOption('-h, --help', 'Print help').helpCommand(false);
  for (const child of command.commands) prepare(child);
}

/** Commander knows words that are spelt alike; beginnings of a word (`--prio`) are told by ours. */
function withSuggestion(command: Command, error: CommanderError): CommanderError {
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
