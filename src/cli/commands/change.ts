/** Commands that change jobs: by id, or all that match a filter. */

import type { Command } from 'commander';
import type { Job } from '../../api/job.ts';
import { routes } from '../../api/routes.ts';
import {
  COMMON_GROUPS,
  clientCommand,
  connect,
  jobId,
  type Output,
  outputOf,
  print,
  printData,
} from '../client-command.ts';
import type { Connection } from '../connection.ts';
import { CliError, usageError } from '../errors/cli-error.ts';
import { reportError } from '../errors/report.ts';
import { addFilterFlags, filterFrom } from '../flags/filter.ts';
import { changeMatching } from './change-matching.ts';

/** `workron cancel ID…`: cancels waiting jobs at once and stops running ones. */
export function cancelCommand(): Command {
  return changeCommand({
    name: 'cancel',
    summary: 'Cancel waiting jobs and stop running ones',
    describe: (job: Job) =>
      job.status === 'running' ? `job ${job.id} is being stopped` : `job ${job.id} ${job.status}`,
  });
}

/** `workron retry ID…`: runs failed, cancelled and skipped jobs again, with all their attempts. */
export function retryCommand(): Command {
  return changeCommand({
    name: 'retry',
    summary: 'Run failed, cancelled or skipped jobs again',
    describe: (job: Job) => `job ${job.id} is ${job.status} again`,
  });
}

/** `workron jobs rm ID…`: deletes ended jobs. */
export function jobsRmCommand(): Command {
  return changeCommand({
    name: 'delete',
    command: 'rm',
    summary: 'Delete ended jobs with their attempts, output and results',
    describe: (job: Job) => `job ${job.id} is deleted`,
  });
}

/** `workron rerun ID…`: submits jobs again as new ones. */
export function rerunCommand(): Command {
  const command = clientCommand('rerun', 'Run jobs again as new jobs, in any status')
    .argument('<id...>', 'Job ids')
    .option('--idempotency-key <KEY>', 'Makes it safe to repeat: the same key submits nothing new');
  return command.action(async (texts: string[], { idempotencyKey }: { idempotencyKey?: string }) => {
    const headers = idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey };
    await changeEach(connect(command), {
      ids: texts.map(jobId),
      change: (connection, id) => connection.json(routes.rerunJob, { params: { id }, headers }),
      describe: (job) => `submitted job ${job.id}, a rerun of job ${job.rerun_of}`,
      output: outputOf(command),
    });
  });
}

interface JobAction {
  name: 'cancel' | 'retry' | 'delete';
  /** How the command is called, if not by its name. */
  command?: string;
  summary: string;
  describe(job: Job): string;
}

function changeCommand(action: JobAction): Command {
  const { name, command: called = name } = action;
  const command = clientCommand(called, action.summary)
    .usage('[flags] ID…   or   [flags] status:failed queue:mail …')
    .argument('[id...]', 'Job ids; or a filter such as status:failed, or flags that say which jobs');
  addFilterFlags(command)
    .option('--all', 'Every job')
    .option('--dry-run', 'Only count the matching jobs')
    .option('-y, --yes', 'Do not ask for confirmation');
  return command.action(async (texts: string[], options: { all?: boolean; dryRun?: boolean; yes?: boolean }) => {
    refuseFlagsBefore(command);
    // An id has no colon; every term of a filter but text to search for has one.
    const isTyped = texts.some((text) => text.includes(':'));
    const filter = filterFrom(command, isTyped ? texts : []);
    const isNarrowed = Object.values(filter).some((value) => value !== undefined);
    if (options.all && isNarrowed) throw usageError('--all means every job; leave it out or the filter');
    const filtered = isNarrowed || options.all === true;
    if (filtered === (texts.length > 0 && !isTyped)) {
      throw usageError(
        'expected job ids, or flags or a filter that say which jobs; --all for every job',
        `workron ${name === 'delete' ? 'jobs rm' : name} 12 13`,
      );
    }
    if (options.dryRun && !filtered) throw usageError('--dry-run goes with flags or a filter that say which jobs');
    const output = outputOf(command);
    if (filtered)
      return changeMatching(connect(command), {
        action: name,
        filter,
        all: options.all === true,
        dryRun: options.dryRun ?? false,
        yes: options.yes ?? false,
        output,
      });
    const route = { cancel: routes.cancelJob, retry: routes.retryJob, delete: routes.deleteJob }[name];
    await changeEach(connect(command), {
      ids: texts.map(jobId),
      change: (connection, id) => connection.json(route, { params: { id } }),
      describe: (job) => action.describe(job),
      output,
    });
  });
}

interface NamedChange {
  ids: readonly string[];
  change: (connection: Connection, id: string) => Promise<Job>;
  describe: (job: Job) => string;
  output: Output;
}

/** Tries all jobs; the first error decides the exit code. */
async function changeEach(connection: Connection, { ids, change, describe, output }: NamedChange): Promise<void> {
  const jobs: Job[] = [];
  for (const id of ids) {
    try {
      jobs.push(await change(connection, id));
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      reportError(error, output.json);
      process.exitCode ??= error.exitCode;
    }
  }
  if (!output.json) for (const job of jobs) print(output.quiet ? job.id : describe(job));
  else if (ids.length > 1) printData(jobs, output.json);
  else if (jobs[0] !== undefined) printData(jobs[0], output.json);
}

/** Flags of the list, before the name of a command that changes jobs, would be lost: `workron jobs --queue mail rm …`. */
function refuseFlagsBefore(command: Command): void {
  const { parent } = command;
  const lost = parent?.options.find(
    (option) =>
      parent.getOptionValueSource(option.attributeName()) === 'cli' &&
      !COMMON_GROUPS.includes(option.helpGroupHeading ?? ''),
  );
  if (lost === undefined) return;
  throw usageError(`put ${lost.long} after ${parent?.name()} ${command.name()}`);
}
