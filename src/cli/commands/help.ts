/** `workron help [COMMAND…]`, and help on topics. */

import { Command } from 'commander';
import { didYouMean } from '../../core/suggest.ts';
import { configurationMarkdown, environmentText } from '../../ops/settings/text.ts';
import { print } from '../client-command.ts';
import { EXIT_MEANINGS, usageError } from '../errors/cli-error.ts';
import { renderTable } from '../output/table.ts';

const TOPICS: Readonly<Record<string, () => string>> = {
  'exit-codes': exitCodes,
  environment: environmentText,
  config: configurationMarkdown,
};

export function addHelpTopics(program: Command): void {
  program.addCommand(
    new Command('help')
      .description('Help on a command, or on exit-codes, environment, config')
      .argument('[topic...]', 'A command or a topic')
      .helpGroup('This command line:')
      .action((words: string[]) => {
        const topic = TOPICS[words.join(' ')];
        if (topic !== undefined) print(topic());
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

function exitCodes(): string {
  return renderTable(
    [
      { title: 'CODE', text: ([code]) => code },
      { title: 'MEANING', text: ([, meaning]) => meaning },
    ],
    EXIT_MEANINGS,
  );
}
