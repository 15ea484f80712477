import type { Command } from 'commander';
import { routes } from '../../api/routes.ts';
import type { Schedule } from '../../api/schedule.ts';
import { clientCommand, connect, type Output, outputOf, print, printData } from '../client-command.ts';
import { usageError } from '../errors/cli-error.ts';
import { addScheduleEditFlags, addScheduleFlags, scheduleFrom } from '../flags/schedule.ts';
import { refuseLoneInput } from '../flags/work.ts';
import { whenText } from '../output/schedule.ts';
import { when } from '../output/when.ts';

const EXAMPLE = 'workron schedule add nightly --cron "0 2 * * *" --timezone Europe/Berlin -- ./report.sh';

/** `workron schedule add NAME --cron … -- CMD…` */
export function scheduleAddCommand(): Command {
  const command = clientCommand('add', 'Create a schedule')
    .usage('NAME --cron EXPRESSION [flags] -- COMMAND…')
    .argument('<name>', 'Letters a-z, digits, ".", "_" and "-"')
    .argument('[command...]', 'One argument is a shell line; several are quoted and joined');
  return addScheduleFlags(command).action(async (name: string, words: string[]) => {
    const wanted = await scheduleFrom(command, words);
    if ((wanted['cron'] === undefined) === (wanted['every'] === undefined)) {
      throw usageError('expected exactly one of --cron and --every', EXAMPLE);
    }
    const job = wanted['job'] as { command?: string; handler?: string } | undefined;
    refuseLoneInput({ ...job });
    const runs = wanted['workflow'] ?? wanted['definition'];
    if (job?.command === undefined && job?.handler === undefined && runs === undefined) {
      throw usageError('expected a command after --, --handler NAME or --workflow FILE|NAME', EXAMPLE);
    }
    const schedule = await connect(command).json(routes.createSchedule, { body: { name, ...wanted } });
    showSchedule(schedule, outputOf(command), 'added');
  });
}

/** `workron schedule edit NAME …`: changes only what is given. */
export function scheduleEditCommand(): Command {
  const command = clientCommand('edit', 'Change a schedule; new times count from now')
    .usage('NAME [flags] [-- COMMAND [ARGUMENT…]]')
    .argument('<name>', 'Schedule name')
    .argument('[command...]', 'What to run instead');
  return addScheduleEditFlags(command).action(async (name: string, words: string[]) => {
    const edit = await scheduleFrom(command, words);
    if (Object.keys(edit).length === 0) {
      throw usageError('expected something to change', 'workron schedule edit nightly --cron "0 3 * * *"');
    }
    const schedule = await connect(command).json(routes.editSchedule, { params: { name }, body: edit });
    showSchedule(schedule, outputOf(command), 'changed');
  });
}

function showSchedule(schedule: Schedule, { json, quiet }: Output, verb: string): void {
  if (json) return printData(schedule, json);
  if (quiet) return print(schedule.name);
  const next = schedule.next_run === null ? '' : `; next run ${when(schedule.next_run)}`;
  print(`${verb} schedule ${schedule.name}: ${whenText(schedule)}${next}`);
}
