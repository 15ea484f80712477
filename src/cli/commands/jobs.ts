/** Commands that read jobs. */

import type { Command } from 'commander';
import type { JobDetail, ListedJob } from '../../api/job.ts';
import { routes } from '../../api/routes.ts';
import type { Waiting } from '../../api/waiting.ts';
import { reasonText } from '../../api/words/reason.ts';
import { sharedWaitText } from '../../api/words/waiting.ts';
import { isTerminal } from '../../core/job.ts';
import { clientCommand, connect, jobId, listCommand, outputOf, print, printData } from '../client-command.ts';
import type { Connection } from '../connection.ts';
import { note } from '../errors/report.ts';
import { addFilterFlags, type Filter, filterFrom } from '../flags/filter.ts';
import { countFlag } from '../flags/values.ts';
import { watch } from '../follow/watch.ts';
import { dependencyText, describeJob, progressText } from '../output/job.ts';
import { oneLine, stateFormat, stateText } from '../output/style.ts';
import { type Column, listText, listUpTo, printList } from '../output/table.ts';
import { between, clock, moment, runTime, waitsFor, when, withMoments } from '../output/when.ts';
import { jobsRmCommand } from './change.ts';

const WATCH_EVERY_MS = 1_000;

/** A job of the list, with what it waits for if that is known. */
type Listed = ListedJob & { waitsFor?: string };

export const JOB_COLUMNS: readonly Column<Listed>[] = [
  { title: 'ID', text: (job) => job.id, align: 'right', identifies: true },
  { title: 'STATUS', text: (job) => stateText(job.status), format: (job) => stateFormat(job.status) },
  { title: 'JOB', text: titleOf, flexible: true, identifies: true },
  { title: 'QUEUE', text: (job) => oneLine(job.queue), flexible: true },
  { title: 'PRIO', text: (job) => String(job.priority), align: 'right', spare: true },
  { title: 'TRY', text: (job) => String(job.attempts), align: 'right', spare: true },
  { title: 'TIME', text: runTime, spare: true },
  { title: 'CREATED', text: (job) => when(job.created_at) },
  { title: 'WORKER', text: (job) => job.worker_id ?? '–', align: 'right', wide: true },
  { title: 'BY', text: (job) => oneLine(job.submitted_by ?? '–'), flexible: true, wide: true },
  { title: 'FROM', text: originOf, flexible: true, wide: true },
  { title: 'TAGS', text: (job) => oneLine(job.tags.join(',')), flexible: true, wide: true },
  { title: 'NOTE', text: noteOf, flexible: true, readable: 44 },
];

const LISTING = { columns: JOB_COLUMNS, id: (job: Listed) => job.id, none: 'no jobs' };

/** `workron jobs`: lists jobs, newest first; `show` and `rm` are about single ones. */
export function jobsCommand(): Command {
  const command = jobsLsCommand('jobs').alias('ls');
  return addJobCommands(command).addCommand(jobShowCommand('show'));
}

/** `workron job ID`: shows one job; `show`, `ls` and `rm` do what they do after `jobs`. */
export function jobCommand(): Command {
  const command = jobShowCommand('job').alias('show');
  return addJobCommands(command).addCommand(jobShowCommand('show'));
}

/** Flags after the name of a subcommand belong to that. */
function addJobCommands(command: Command): Command {
  return command.enablePositionalOptions().addCommand(jobsLsCommand('ls')).addCommand(jobsRmCommand());
}

function jobsLsCommand(name: string): Command {
  const command = listCommand(name, 'List jobs, newest first');
  command.argument(
    '[filter...]',
    'Such as: queue:mail status:failed since:1h error:"503"; other words are searched for',
  );
  return addFilterFlags(command)
    .option('-n, --limit <NUMBER>', 'Maximum number of rows', countFlag(1, 1_000_000), 50)
    .option('-w, --watch', 'Keep the list up to date until Ctrl-C')
    .action(async (words: string[], options: { limit: number; watch?: boolean }) => {
      const connection = connect(command);
      const output = outputOf(command);
      const filter = filterFrom(command, words);
      const read = async () => {
        const listed = await listJobs(connection, filter, options.limit);
        return output.json || output.quiet ? listed : { ...listed, jobs: await withNotes(connection, listed.jobs) };
      };
      if (options.watch) await watch(async () => listText((await read()).jobs, LISTING, output), WATCH_EVERY_MS);
      const { jobs, more, searchedBackTo } = await read();
      printList(jobs, LISTING, output, more);
      if (output.json || output.quiet) return;
      const cut = jobs.find((job) => job.cut !== undefined);
      if (cut !== undefined) note(`long fields are cut; see all with: workron job ${cut.id}`);
      if (!more && searchedBackTo !== null) note(`searched back to ${searchedBackTo}; older jobs may match`);
    });
}

async function withNotes(connection: Connection, jobs: readonly ListedJob[]): Promise<Listed[]> {
  const waits = await waitsOf(connection, jobs);
  return jobs.map((job) => {
    const waiting = waits.get(job.id);
    const shared = waiting === undefined ? null : sharedWaitText(waiting);
    return shared === null ? job : { ...job, waitsFor: `waits for ${shared}` };
  });
}

function titleOf(job: ListedJob): string {
  const more = job.cut?.includes('command') ? '…' : '';
  return oneLine(job.name ?? stepOf(job) ?? (job.command === null ? (job.handler ?? '') : job.command + more));
}

/** `count`, or `count[3]` for an item. */
function stepOf({ step, index }: ListedJob): string | null {
  return step === null || index === null ? step : `${step}[${index}]`;
}

/** The schedule or workflow that it belongs to. */
function originOf({ tick, workflow_id }: Listed): string {
  if (tick !== null) return `schedule ${tick.schedule}`;
  return workflow_id === null ? '–' : `workflow ${workflow_id}`;
}

function noteOf(job: Listed): string {
  if (job.status === 'running') {
    if (job.cancel_requested_at !== null) return 'being stopped';
    return job.progress === null ? '' : progressText(job.progress);
  }
  if (job.status === 'scheduled') return `due ${when(job.run_at)}`;
  if (job.status === 'failed' && job.failure !== null) return oneLine(job.failure.line);
  if (!isTerminal(job.status)) return oneLine(job.waitsFor ?? '');
  return job.reason === null || job.reason === job.status ? '' : reasonText(job.reason);
}

/** Prints all details of a job. */
function jobShowCommand(name: string): Command {
  const command = clientCommand(name, 'Show one job with its attempts').argument('<id>', 'Job id');
  return command.action(async (text: string) => {
    const id = jobId(text);
    const connection = connect(command);
    const output = outputOf(command);
    const job = await connection.json(routes.readJob, { params: { id } });
    if (output.json) return printData(job, output.json);
    if (output.quiet) return print(job.id);
    const { items } = await connection.json(routes.listAttempts, { params: { id } });
    print(describeJob(job, items));
  });
}

interface JobList {
  jobs: ListedJob[];
  /** True if more jobs match. */
  more: boolean;
  /** Jobs submitted before this instant were not searched for text; `null` if all were. */
  searchedBackTo: string | null;
}

/** Returns the newest `limit` jobs that match. */
export async function listJobs(connection: Connection, filter: Filter, limit: number): Promise<JobList> {
  let searchedBackTo: string | null = null;
  const { rows, more } = await listUpTo(limit, async (page) => {
    const found = await connection.json(routes.listJobs, { query: { ...filter, ...page } });
    searchedBackTo = found.searched_back_to ?? null;
    return found;
  });
  return { jobs: rows, more, searchedBackTo };
}

/** At most this number of kinds of pending jobs is asked about. */
const MAX_ASKED = 5;

/** What jobs wait for, by id. One job is asked for each kind. Places in the queue are left to `workron why`. */
async function waitsOf(connection: Connection, jobs: readonly ListedJob[]): Promise<Map<string, Waiting>> {
  const kinds = Map.groupBy(
    jobs.filter(({ status }) => status === 'pending'),
    ({ queue, handler, requires, resources, limits, rates, gang }) =>
      JSON.stringify([queue, handler, requires, resources, limits, rates, gang?.id]),
  );
  const waits = new Map<string, Waiting>();
  const ask = async (alike: readonly ListedJob[]): Promise<void> => {
    const { id } = alike[0] as ListedJob;
    // The job may be gone by now, which is no reason to show no list.
    const job = await connection.json(routes.readJob, { params: { id } }).catch(() => null);
    if (job?.waiting != null) for (const each of alike) waits.set(each.id, job.waiting);
  };
  await Promise.all([...kinds.values()].slice(0, MAX_ASKED).map(ask));
  return waits;
}

/** `workron history ID`: prints what has happened to a job, one line per event. */
export function historyCommand(): Command {
  const command = clientCommand('history', 'Show the history of a job, oldest first', { ids: false }).argument(
    '<id>',
    'Job id',
  );
  return command.action(async (text: string) => {
    const { items } = await connect(command).json(routes.listHistory, { params: { id: jobId(text) } });
    const { json } = outputOf(command);
    if (json) printData(items, json);
    else for (const { at, text } of items) print(`${clock(at)}  ${oneLine(withMoments(text))}`);
  });
}

/** `workron why ID`: prints in one sentence why the job waits, or how it ended. */
export function whyCommand(): Command {
  const command = clientCommand('why', 'Say why a job is waiting, or how it ended', { ids: false }).argument(
    '<id>',
    'Job id',
  );
  return command.action(async (text: string) => {
    const read = (id: string) => connect(command).json(routes.readJob, { params: { id } });
    const job = await read(jobId(text));
    const { json, quiet } = outputOf(command);
    if (json) return printData(job, json);
    if (quiet) return print(job.id);
    const root = job.reason === 'upstream_failed' ? await rootOf(job, read) : null;
    print(`${explain(job)}${root === null ? '' : `; ${rootText(root)}`}`);
  });
}

/** How many jobs above one are looked at. */
const MAX_ABOVE = 50;

/** The job that failed first of those that it depends on, over any number of skipped ones; `null` if it is not found. */
async function rootOf(job: JobDetail, read: (id: string) => Promise<JobDetail>): Promise<JobDetail | null> {
  const seen = new Set<string>();
  const above = job.depends_on.map((parent) => parent.job);
  while (above.length > 0 && seen.size < MAX_ABOVE) {
    const id = above.shift() as string;
    if (seen.has(id)) continue;
    seen.add(id);
    const parent = await read(id).catch(() => null);
    if (parent?.status === 'failed' || parent?.status === 'cancelled') return parent;
    if (parent?.status === 'skipped') above.push(...parent.depends_on.map((each) => each.job));
  }
  return null;
}

function rootText({ id, step, name, status, failure }: JobDetail): string {
  const title = step ?? name;
  const why = failure === null ? '' : `: ${oneLine(failure.line)}`;
  return `job ${id}${title === null ? '' : ` (${oneLine(title)})`} ${status}${why}`;
}

function explain(job: JobDetail): string {
  if (job.status === 'running') {
    const stopping = job.cancel_requested_at === null ? '' : '; it was asked to stop';
    return `job ${job.id} has been running on worker ${job.worker_id} for ${between(job.started_at, null)} (attempt ${job.attempts})${stopping}`;
  }
  if (job.status === 'scheduled' && job.waiting?.code === 'start_time')
    return `job ${job.id} is scheduled for ${moment(job.run_at)}`;
  if (!isTerminal(job.status))
    return `job ${job.id} is ${job.status}: ${job.waiting === null ? 'it is about to start' : `it waits for ${waitsFor(job.waiting)}`}`;
  if (job.status === 'done')
    return `job ${job.id} is done: it ended ${when(job.done_at)} and took ${between(job.started_at, job.done_at)}`;
  // One that a limit or its gang has ended says so by its error.
  if (job.status === 'skipped')
    return `job ${job.id} was skipped: ${job.failure === null ? skippedFor(job) : oneLine(job.failure.line)}`;
  const error = job.failure === null ? '' : `: ${oneLine(job.failure.line)}`;
  if (job.reason === 'timeout') return `job ${job.id} failed${error} (raise it with --timeout)`;
  return job.status === 'failed' ? `job ${job.id} failed${error}` : `job ${job.id} was ${job.status}${error}`;
}

/** `an upstream job failed; it runs after 8`. */
function skippedFor({ reason, depends_on: parents }: JobDetail): string {
  const why = reason === null ? 'for no known reason' : reasonText(reason);
  return parents.length === 0 ? why : `${why}; it runs after ${parents.map(dependencyText).join(', ')}`;
}
