import type { Command } from 'commander';
import type { ListedJob } from '../../api/job.ts';
import { reasonText } from '../../api/words/reason.ts';
import { sharedWaitText } from '../../api/words/waiting.ts';
import { isTerminal } from '../../core/job.ts';
import { connect, listCommand, outputOf, print } from '../client-command.ts';
import type { Connection } from '../connection.ts';
import { note } from '../errors/report.ts';
import { addFilterFlags, filterFrom } from '../flags/filter.ts';
import { countFlag } from '../flags/values.ts';
import { watch } from '../follow/watch.ts';
import { listText } from '../output/list.ts';
import { progressText } from '../output/progress.ts';
import { oneLine, stateFormat, stateText } from '../output/style.ts';
import type { Column } from '../output/table.ts';
import { runTime, when } from '../output/when.ts';
import { jobsRmCommand } from './change.ts';
import { jobShowCommand } from './job.ts';
import { listJobs } from './list-jobs.ts';
import { waitsOf } from './waits-of.ts';

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
      print(listText(jobs, LISTING, output));
      if (output.json || output.quiet) return;
      const cut = jobs.find((job) => job.cut !== undefined);
      if (cut !== undefined) note(`long fields are cut; see all with: workron job ${cut.id}`);
      if (more) note(`showing ${jobs.length}; use --limit to see more`);
      else if (searchedBackTo !== null) note(`searched back to ${searchedBackTo}; older jobs may match`);
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
