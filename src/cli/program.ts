/** Builds the command line, or the part of it that one call needs. */

import { Command, Help, type Option } from 'commander';
import { version } from '../node/version.ts';
import { COMMON_GROUPS } from './client-command.ts';
import { COMMANDS, type CommandEntry, EVERYDAY } from './commands.ts';
import { usageError } from './errors/cli-error.ts';
import { usageFailure } from './errors/failure.ts';
import { RARE } from './flags/setting.ts';

/** Long flags leave less room for their description than commander would wrap at. */
const HELP = {
  minWidthToWrap: 20,
  optionDescription: (option: Option): string =>
    Help.prototype.optionDescription
      .call(new Help(), option)
      .replace(/ \(preset: [^)]*\)/, '')
      .replace(/\(default: "([^"]*)"/, '(default: $1'),
};

/** What people need every day. */
const SHORT_HELP = {
  ...HELP,
  subcommandTerm: (command: Command): string => command.name(),
  visibleOptions: (command: Command): Option[] =>
    Help.prototype.visibleOptions.call(new Help(), command).filter((option) => !RARE.has(option)),
  visibleCommands: (command: Command): Command[] => {
    const all = Help.prototype.visibleCommands.call(new Help(), command);
    return command.parent === null ? all.filter((child) => child.helpGroup() === EVERYDAY) : all;
  },
};

const VERSION_FLAGS = '-V, --version';

/**
 * Parsing the program runs the command. Usage errors are thrown; nothing exits the process. If `name` is a command, only
 * that command is loaded; the version flag loads none. Anything else loads all commands, for help and suggestions.
 */
export async function createProgram(name?: string, args: readonly string[] = []): Promise<Command> {
  const program = new Command('workron')
    .enablePositionalOptions()
    .description('Run jobs now or on a schedule, here or on a fleet, without losing any.')
    .version(version, VERSION_FLAGS, 'Print the version');
  const wanted = wantedFor(name);
  for (const { group, load } of wanted) program.addCommand((await load()).helpGroup(group));
  if (wanted === COMMANDS) await addHelp(program);
  prepare(program);
  if (wanted === COMMANDS || args.includes('--help') || args.includes('-h')) await addExamples(program);
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

/** Loaded for help only. */
async function addExamples(program: Command): Promise<void> {
  const { EXAMPLES } = await import('./examples.ts');
  const add = (command: Command, path: readonly string[]): void => {
    const lines = EXAMPLES[path.join(' ')] ?? [];
    if (lines.length > 0) command.addHelpText('after', `\nExamples:\n${lines.map((line) => `  $ ${line}`).join('\n')}`);
    command.addHelpText('after', () => moreHelp(command, path.join(' ')));
    for (const child of command.commands) add(child, [...path, child.name()]);
  };
  add(program, []);
}

/** Where the rest of the help is; nothing if this is all of it. */
function moreHelp(command: Command, path: string): string {
  if (command.configureHelp() !== SHORT_HELP) return '';
  if (path === '') return '\nMore: workron help all, workron COMMAND --help, workron help exit-codes';
  const rare = command.options.filter((option) => RARE.has(option));
  if (rare.length === 0) return '';
  if (rare.some(({ long }) => long === '--url'))
    return '\nServer and token (--url, --token-file, …): workron help connection';
  return `\n${rare.length} more settings: workron help all ${path}, workron help config`;
}

/** Lets the command, and those below it, print all that they have to say. */
export function helpInFull(command: Command): Command {
  command.configureHelp(HELP);
  for (const child of command.commands) helpInFull(child);
  return command;
}

/** Settings that every command needs, at any depth. */
function prepare(command: Command): void {
  command.exitOverride((error) => {
    throw usageFailure(command, error);
  });
  command.configureOutput({ outputError: () => {} }).configureHelp(SHORT_HELP);
  command.helpOption('-h, --help', 'Print help').helpCommand(false);
  ownFlagsFirst(command);
  for (const option of command.options) refuseRepeat(command, option);
  for (const child of command.commands) prepare(child);
}

function ownFlagsFirst(command: Command): void {
  const rank = ({ helpGroupHeading }: Option): number => COMMON_GROUPS.indexOf(helpGroupHeading ?? '');
  (command.options as Option[]).sort((a, b) => rank(a) - rank(b));
}

/** A flag with one value that is given twice is refused: one of the two would be lost. A parser that takes two arguments collects. */
function refuseRepeat(command: Command, option: Option): void {
  if (!option.required || (option.parseArg?.length ?? 0) > 1) return;
  let given = false;
  command.on(`option:${option.name()}`, () => {
    if (given) throw usageError(`${option.long ?? option.short} was given twice: expected one value`);
    given = true;
  });
}
