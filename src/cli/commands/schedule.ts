import { Command } from 'commander';
import { refuseExtra } from '../client-command.ts';
import { scheduleTestCommand } from './schedule-test.ts';

/** `workron schedule`: all about schedules. */
export function scheduleCommand(): Command {
  const command = new Command('schedule').description('Explain a cron expression and list when it fires');
  command.allowExcessArguments().action(() => {
    refuseExtra(command);
    command.outputHelp();
  });
  return command.addCommand(scheduleTestCommand());
}
