import type { Command } from 'commander';
import type { Job } from '../../api/job.ts';
import { clientCommand, connect, type Output, outputOf, print, terminalWidth } from '../client-command.ts';
import { note } from '../errors/report.ts';
import { addFilterFlags, filterFrom } from '../flags/filter.ts';
import { countFlag } from '../flags/values.ts';
import { watch } from '../follow/watch.ts';
import { JOB_COLUMNS } from '../output/job-columns.ts';
import { renderTable } from '../output/table.ts';
import { listJobs } from './list-jobs.ts';

const WATCH_EVERY_MS = 1_000;

/** `workron jobs`: newest first. */
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
      if (more) note(`there are more: --limit ${options.limit * 2}`);
      else if (searchedBackTo !== null) note(`looked for text back to ${searchedBackTo}, not in older jobs`);
    });
}

function render(jobs: readonly Job[], { json, quiet }: Output): string {
  if (json) return JSON.stringify(jobs);
  if (quiet) return jobs.map((job) => `${job.id}\n`).join('');
  return jobs.length === 0 ? 'no jobs\n' : renderTable(JOB_COLUMNS, jobs, terminalWidth());
}
