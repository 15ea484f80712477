import { Command } from 'commander';
import { print, refuseExtra } from '../client-command.ts';
import { scheduleAddCommand, scheduleEditCommand } from './schedule-add.ts';
import { schedulePauseCommand, scheduleResumeCommand, scheduleRmCommand } from './schedule-change.ts';
import { scheduleLsCommand } from './schedule-ls.ts';
import { scheduleBackfillCommand, scheduleRunCommand } from './schedule-run.ts';
import { scheduleNextCommand, scheduleShowCommand, scheduleTicksCommand } from './schedule-show.ts';
import { scheduleTestCommand } from './schedule-test.ts';

/** `workron schedule …` */
export function scheduleCommand(): Command {
  const command = new Command('schedule')
    .alias('schedules')
    .description('Create, show, pause and run schedules; explain expressions');
  command.allowExcessArguments().action(() => {
    refuseExtra(command);
    command.outputHelp();
  });
  return command
    .addCommand(scheduleAddCommand())
    .addCommand(scheduleLsCommand())
    .addCommand(scheduleShowCommand())
    .addCommand(scheduleNextCommand())
    .addCommand(scheduleTicksCommand())
    .addCommand(scheduleEditCommand())
    .addCommand(schedulePauseCommand())
    .addCommand(scheduleResumeCommand())
    .addCommand(scheduleRunCommand())
    .addCommand(scheduleBackfillCommand())
    .addCommand(scheduleRmCommand())
    .addCommand(scheduleTestCommand())
    .addCommand(scheduleSchemaCommand());
}

/** `workron schedule schema`: prints schema/schedules.schema.json. */
function scheduleSchemaCommand(): Command {
  return new Command('schema').description('Print the JSON Schema of schedule files, for editors').action(async () => {
    const { scheduleJsonSchema } = await import('../../api/schedule-file.ts');
    print(JSON.stringify(scheduleJsonSchema(), null, 2));
  });
}
