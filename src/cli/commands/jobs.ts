import type { Command } from 'commander';
import type { ListedJob } from '../../api/job.ts';
import { isTerminal } from '../../core/job.ts';
import { clientCommand, connect, type Output, outputOf, print, terminalWidth } from '../client-command.ts';
import { note } from '../errors/report.ts';
import { addFilterFlags, filterFrom } from '../flags/filter.ts';
import { countFlag } from '../flags/values.ts';
import { watch } from '../follow/watch.ts';
import { oneLine, stateFormat, stateText } from '../output/style.ts';
import { type Column, renderTable } from '../output/table.ts';
import { between, when } from '../output/when.ts';
import { listJobs } from './list-jobs.ts';

const WATCH_EVERY_MS = 1_000;

const COLUMNS: readonly Column<ListedJob>[] = [
  { title: 'ID', text: (job) => job.id, align: 'right' },
  { title: 'STATUS', text: (job) => stateText(job.status), format: (job) => stateFormat(job.status) },
  { title: 'JOB', text: titleOf, flexible: true },
  { title: 'QUEUE', text: (job) => oneLine(job.queue), flexible: true },
  { title: 'PRIO', text: (job) => String(job.priority), align: 'right' },
  { title: 'TRY', text: (job) => String(job.attempts), align: 'right' },
  {
    title: 'TIME',
    text: (job) => (job.status === 'running' || isTerminal(job.status) ? between(job.started_at, job.done_at) : '–'),
  },
  { title: 'CREATED', text: (job) => when(job.created_at) },
  { title: 'NOTE', text: noteOf, flexible: true },
];

/** `workron jobs`: lists jobs, newest first. */
export function jobsCommand(): Command {
  const command = clientCommand('jobs', 'List jobs, newest first').alias('ls');
  return addFilterFlags(command)
    .option('-n, --limit <NUMBER>', 'How many at most', countFlag(1, 1_000_000), 50)
    .option('-w, --watch', 'Show the list again whenever it changes, until Ctrl-C')
    .action(async (options: { limit: number; watch?: boolean }) => {
      const connection = connect(command);
      const output = outputOf(command);
      const filter = filterFrom(command);
      const read = () => listJobs(connection, filter, options.limit);
      if (options.watch) await watch(async () => render((await read()).jobs, output), WATCH_EVERY_MS);
      const { jobs, more, searchedBackTo } = await read();
      print(render(jobs, output));
      if (output.json || output.quiet) return;
      const cut = jobs.find((job) => job.cut !== undefined);
      if (cut !== undefined) note(`long fields are cut; see all with: workron job ${cut.id}`);
      if (more) note(`there are more: --limit ${options.limit * 2}`);
      else if (searchedBackTo !== null) note(`looked for text back to ${searchedBackTo}, not in older jobs`);
    });
}

function render(jobs: readonly ListedJob[], { json, quiet }: Output): string {
  if (json) return JSON.stringify(jobs);
  if (quiet) return jobs.map((job) => `${job.id}\n`).join('');
  return jobs.length === 0 ? 'no jobs\n' : renderTable(COLUMNS, jobs, terminalWidth());
}

function titleOf(job: ListedJob): string {
  const more = job.cut?.includes('command') ? '…' : '';
  return oneLine(job.name ?? stepOf(job) ?? (job.command === null ? (job.handler ?? '') : job.command + more));
}

/** `count`, or `count[3]` for an item. */
function stepOf({ step, index }: ListedJob): string | null {
  return step === null || index === null ? step : `${step}[${index}]`;
}

function noteOf(job: ListedJob): string {
  if (job.status === 'running') return job.cancel_requested_at === null ? '' : 'being stopped';
  if (job.status === 'scheduled') return `due ${when(job.run_at)}`;
  if (job.status === 'failed' && job.error !== null) return oneLine(job.error.split('\n')[0] ?? '');
  return isTerminal(job.status) ? (job.reason ?? '') : '';
}
