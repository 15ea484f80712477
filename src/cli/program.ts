/** All commands together. */

import { Command } from 'commander';
import { backupCommand } from './commands/backup.ts';
import { cancelCommand } from './commands/cancel.ts';
import { editCommand } from './commands/edit.ts';
import { addHelpTopics } from './commands/help.ts';
import { importCommand } from './commands/import.ts';
import { jobCommand } from './commands/job.ts';
import { jobsCommand } from './commands/jobs.ts';
import { logsCommand } from './commands/logs.ts';
import { migrateCommand } from './commands/migrate.ts';
import { queuesCommand } from './commands/queues.ts';
import { retryCommand } from './commands/retry.ts';
import { runCommand } from './commands/run.ts';
import { scheduleCommand } from './commands/schedule.ts';
import { schedulerCommand } from './commands/scheduler.ts';
import { statusCommand } from './commands/status.ts';
import { submitCommand } from './commands/submit.ts';
import { upCommand } from './commands/up.ts';
import { waitCommand } from './commands/wait.ts';
import { whyCommand } from './commands/why.ts';
import { workerCommand } from './commands/worker.ts';
import { workersCommand } from './commands/workers.ts';
import { workflowCommand } from './commands/workflow.ts';
import { version } from './version.ts';

const GROUPS: readonly [string, readonly (() => Command)[]][] = [
  ['Run Workron:', [upCommand, schedulerCommand, workerCommand, migrateCommand, backupCommand]],
  ['Submit jobs:', [submitCommand, runCommand]],
  ['Workflows:', [workflowCommand]],
  ['Look:', [statusCommand, jobsCommand, jobCommand, whyCommand, logsCommand, waitCommand]],
  ['Change:', [cancelCommand, retryCommand, editCommand, queuesCommand, workersCommand]],
  ['Schedules:', [scheduleCommand, importCommand]],
];

/** The whole command line. Parsing it runs the command; usage errors are thrown, nothing exits the process. */
export function createProgram(): Command {
  const program = new Command('workron')
    .description('Workron runs jobs: on this machine, on others, now or later, and never loses one.')
    .version(version, '-V, --version', 'Print the version');
  for (const [group, commands] of GROUPS) {
    for (const create of commands) program.addCommand(create().helpGroup(group));
  }
  addHelpTopics(program);
  prepare(program);
  return program;
}

/** The same manners for every command, at any depth. */
function prepare(command: Command): void {
  command.exitOverride();
  command.configureOutput({ outputError: () => {} });
  command.helpOption('-h, --help', 'Print help').helpCommand(false);
  for (const child of command.commands) prepare(child);
}
