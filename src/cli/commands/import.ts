import { Command } from 'commander';
import { refuseExtra } from '../client-command.ts';
import { importCrontabCommand } from './import-crontab.ts';

/** `workron import`: from other systems, for review. */
export function importCommand(): Command {
  const command = new Command('import').description('Turn a crontab into schedules, for review');
  command.allowExcessArguments().action(() => {
    refuseExtra(command);
    command.outputHelp();
  });
  return command.addCommand(importCrontabCommand());
}
