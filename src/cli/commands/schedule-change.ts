/** Commands that change schedules by name. All are tried; the first error decides the exit code. */

import type { Command } from 'commander';
import { routes } from '../../api/routes.ts';
import type { Schedule } from '../../api/schedule.ts';
import { clientCommand, connect, outputOf, print, printData } from '../client-command.ts';
import type { Connection } from '../connection.ts';
import { CliError } from '../errors/cli-error.ts';
import { reportError } from '../errors/report.ts';
import { when } from '../output/when.ts';

type Act = (connection: Connection, name: string) => Promise<Schedule>;

export function schedulePauseCommand(): Command {
  const command = clientCommand('pause', 'Pause schedules until they are resumed')
    .argument('<name...>', 'Schedule names')
    .option('--note <TEXT>', 'Reason to show while paused');
  return command.action(async (names: string[], { note }: { note?: string }) => {
    const body = note === undefined ? {} : { note };
    const act: Act = (connection, name) => connection.json(routes.pauseSchedule, { params: { name }, body });
    await changeEach(command, names, act, ({ name }) => `schedule ${name} is paused`);
  });
}

export function scheduleResumeCommand(): Command {
  const command = clientCommand('resume', 'Resume paused schedules, from now on').argument(
    '<name...>',
    'Schedule names',
  );
  return command.action(async (names: string[]) => {
    const act: Act = (connection, name) => connection.json(routes.resumeSchedule, { params: { name } });
    const message = ({ name, next_run }: Schedule) =>
      `schedule ${name} goes on${next_run === null ? '' : `, next run ${when(next_run)}`}`;
    await changeEach(command, names, act, message);
  });
}

export function scheduleRmCommand(): Command {
  const command = clientCommand('rm', 'Delete schedules; runs that have started continue').argument(
    '<name...>',
    'Schedule names',
  );
  return command.action(async (names: string[]) => {
    const act: Act = (connection, name) => connection.json(routes.deleteSchedule, { params: { name } });
    await changeEach(command, names, act, ({ name }) => `schedule ${name} is deleted`);
  });
}

async function changeEach(
  command: Command,
  names: readonly string[],
  act: Act,
  message: (schedule: Schedule) => string,
): Promise<void> {
  const connection = connect(command);
  const { json, quiet } = outputOf(command);
  const changed: Schedule[] = [];
  for (const name of names) {
    try {
      changed.push(await act(connection, name));
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      reportError(error, json);
      process.exitCode ??= error.exitCode;
    }
  }
  if (!json) for (const schedule of changed) print(quiet ? schedule.name : message(schedule));
  else if (names.length > 1) printData(changed, json);
  else if (changed[0] !== undefined) printData(changed[0], json);
}
