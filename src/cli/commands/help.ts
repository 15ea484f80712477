/** `workron help [COMMAND…]`, and help on topics. */

import { Command } from 'commander';
import { didYouMean } from '../../core/suggest.ts';
import { configurationMarkdown, environmentText } from '../../ops/settings/text.ts';
import { print } from '../client-command.ts';
import { EXIT_MEANINGS, usageError } from '../errors/cli-error.ts';
import { addSettingFlags } from '../flags/setting.ts';
import { renderTable } from '../output/table.ts';
import { helpInFull } from '../program.ts';

const TOPICS: Readonly<Record<string, () => string>> = {
  'exit-codes': exitCodes,
  connection,
  environment: environmentText,
  config: configurationMarkdown,
};

export function addHelpTopics(program: Command): void {
  program.addCommand(
    new Command('help')
      .description('Help on a command, or on all, connection, exit-codes, environment, config')
      .argument('[topic...]', 'A command or a topic; all: every command, or every flag of one')
      .helpGroup('This command line:')
      .action((words: string[]) => {
        const topic = TOPICS[words.join(' ')];
        if (topic !== undefined) print(topic());
        else if (words[0] === 'all') find(helpInFull(program), words.slice(1)).outputHelp();
        else find(program, words).outputHelp();
      }),
  );
}

function find(program: Command, words: readonly string[]): Command {
  let command = program;
  for (const word of words) {
    const child = command.commands.find((each) => each.name() === word || each.aliases().includes(word));
    if (child === undefined) {
      const known = [...command.commands.map((each) => each.name()), ...Object.keys(TOPICS)];
      throw usageError(`there is no help on "${words.join(' ')}"`, didYouMean(word, known));
    }
    command = child;
  }
  return command;
}

/** The flags of every command that calls a server. */
function connection(): string {
  const { options } = addSettingFlags(new Command(), 'client');
  const rows = options.map(({ flags, description }) => ({ flags, description }));
  const flags = renderTable(
    [
      { title: 'FLAG', text: (row) => row.flags },
      { title: 'MEANING', text: (row) => row.description },
    ],
    rows,
  );
  return `Commands that call a server take these flags, before or after their name:\n\n${flags}`;
}

function exitCodes(): string {
  return renderTable(
    [
      { title: 'CODE', text: ([code]) => code },
      { title: 'MEANING', text: ([, meaning]) => meaning },
    ],
    EXIT_MEANINGS,
  );
}
