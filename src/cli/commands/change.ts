/** Commands that change jobs: by id, or all that match a filter. */

import { setTimeout as sleep } from 'node:timers/promises';
import { type Command, Option } from 'commander';
import { countText } from '../../api/count-text.ts';
import type { Job } from '../../api/job.ts';
import type { Operation } from '../../api/operation.ts';
import { routes } from '../../api/routes.ts';
import {
  COMMON_GROUPS,
  changeEach,
  clientCommand,
  connect,
  jobId,
  type Output,
  outputOf,
  print,
  printData,
} from '../client-command.ts';
import type { Connection } from '../connection.ts';
import { usageError } from '../errors/cli-error.ts';
import { note } from '../errors/report.ts';
import { addFilterFlags, type Filter, filterFrom } from '../flags/filter.ts';
import { collectList, durationFlag, instantFlag, integerFlag } from '../flags/values.ts';
import { StatusLine } from '../output/status-line.ts';

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
    await changeEach(command, texts.map(jobId), {
      act: (connection, id) => connection.json(routes.rerunJob, { params: { id }, headers }),
      id: ({ id }) => id,
      text: (job) => `submitted job ${job.id}, a rerun of job ${job.rerun_of}`,
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
    await changeEach(command, texts.map(jobId), {
      act: (connection, id) => connection.json(route, { params: { id } }),
      id: ({ id }) => id,
      text: (job) => action.describe(job),
    });
  });
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

const POLL_MS = 200;

const VERBS = {
  cancel: { ask: 'Cancel', done: 'cancelled', left: 'could not be changed' },
  retry: { ask: 'Retry', done: 'retried', left: 'could not be changed' },
  delete: { ask: 'Delete', done: 'deleted', left: 'had to stay: steps of workflows, or needed by unfinished jobs' },
} as const;

interface MatchingChange {
  action: keyof typeof VERBS;
  filter: Filter;
  /** True if every job is meant, without a filter. */
  all: boolean;
  dryRun: boolean;
  /** Do not ask. */
  yes: boolean;
  output: Output;
}

async function changeMatching(connection: Connection, change: MatchingChange): Promise<void> {
  const { action, filter, all, dryRun, output } = change;
  if (action === 'delete' && !dryRun && !change.yes && !mayAsk(output)) {
    throw usageError('expected --yes, since nobody can be asked', '--dry-run counts the jobs that match');
  }
  if (!dryRun && !(await isConfirmed(connection, change))) return note('nothing was changed');
  const body = { action, filter, ...(all && { all }), dry_run: dryRun };
  const answer = await connection.json(routes.bulkJobs, { body });
  if (answer.operation === null) {
    if (output.json) printData(answer, output.json);
    else print(output.quiet ? String(answer.total) : matchText(answer.total));
    return;
  }
  const operation = await untilEnd(connection, answer.operation, output.quiet);
  if (output.json) printData(operation, output.json);
  else if (output.quiet) print(operation.id);
  else print(resultText(operation));
}

async function untilEnd(connection: Connection, started: Operation, silent: boolean): Promise<Operation> {
  using line = new StatusLine('');
  let operation = started;
  while (operation.status === 'running') {
    await sleep(POLL_MS);
    operation = await connection.json(routes.readOperation, { params: { id: operation.id } });
    if (!silent)
      line.show(
        `${operation.action}: ${operation.changed + operation.skipped} of ${countText(operation.total, 'job')}`,
      );
  }
  return operation;
}

function mayAsk({ json, quiet }: Output): boolean {
  return !json && !quiet && process.stdin.isTTY && process.stderr.isTTY;
}

/** On a terminal, a person confirms the number of jobs first. */
async function isConfirmed(connection: Connection, { action, filter, yes, output }: MatchingChange): Promise<boolean> {
  if (yes || !mayAsk(output)) return true;
  const { total } = await connection.json(routes.bulkJobs, { body: { action, filter, dry_run: true } });
  if (total === 0) return true;
  const { createInterface } = await import('node:readline/promises');
  const asking = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await asking.question(
      `${matchText(total)}. ${VERBS[action].ask} ${total === 1 ? 'it' : 'them'}? [y/N] `,
    );
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    asking.close();
  }
}

function matchText(total: number): string {
  return countText(total, 'job matches', 'jobs match');
}

function resultText({ action, changed, skipped }: Operation): string {
  const left = skipped === 0 ? '' : `; ${skipped} ${VERBS[action].left}`;
  return `${VERBS[action].done} ${countText(changed, 'job')}${left}`;
}

/** `workron edit ID --priority 5`: changes a job that still waits. */
export function editCommand(): Command {
  const command = clientCommand('edit', 'Change a waiting job')
    .argument('<id>', 'Job id')
    .option('-p, --priority <NUMBER>', 'Jobs with a higher priority run first', integerFlag)
    .option('--queue <NAME>', 'Move it to this queue')
    .option('--run-at <INSTANT>', 'Start at this time', instantFlag)
    .addOption(new Option('--delay <DURATION>', 'Start after this delay').argParser(durationFlag).conflicts('runAt'))
    .option('--timeout <DURATION>', 'Stop an attempt that takes longer than this')
    .option('--max-attempts <NUMBER>', 'Fail the job after this many failed attempts', integerFlag)
    .option('--tag <TAG,…>', 'Replace the tags of the job', collectList);
  return command.action(async (text: string, options: Record<string, unknown>) => {
    const { priority, queue, runAt, delay, timeout, maxAttempts, tag } = options;
    const edit = { priority, queue, run_at: runAt, delay, timeout, max_attempts: maxAttempts, tags: tag };
    if (Object.values(edit).every((value) => value === undefined)) {
      throw usageError('expected something to change', 'workron edit 12 --priority 10');
    }
    const job = await connect(command).json(routes.editJob, { params: { id: jobId(text) }, body: edit });
    const { json, quiet } = outputOf(command);
    if (json) printData(job, json);
    else print(quiet ? job.id : `job ${job.id} changed`);
  });
}
