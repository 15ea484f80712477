import type { Command } from 'commander';
import { countText } from '../../api/count-text.ts';
import type { ListedJob } from '../../api/job.ts';
import type { Worker } from '../../api/worker.ts';
import { formatDuration } from '../../core/duration.ts';
import { clientCommand, connect, outputOf, print, printData, terminalWidth, workerId } from '../client-command.ts';
import { CliError } from '../errors/cli-error.ts';
import { EXIT } from '../errors/exit-code.ts';
import { factsText } from '../output/facts.ts';
import { oneLine } from '../output/style.ts';
import { renderTable } from '../output/table.ts';
import { when } from '../output/when.ts';
import { JOB_COLUMNS } from './jobs.ts';
import { listJobs } from './list-jobs.ts';
import { listWorkers } from './list-workers.ts';

const MAX_JOBS = 50;
const SHOWN_COLUMNS = ['ID', 'JOB', 'QUEUE', 'TRY', 'TIME', 'NOTE'];

/** `workron workers show ID`: prints what the worker is, what it can run and what it runs. */
export function workerShowCommand(): Command {
  const command = clientCommand('show', 'Show a worker and the jobs that it runs');
  return command.argument('<id>', 'Worker id').action(async (text: string) => {
    const id = workerId(text);
    const connection = connect(command);
    const worker = (await listWorkers(connection)).find((each) => each.id === id);
    if (worker === undefined)
      throw new CliError(EXIT.notFound, `No worker ${id}`, { hint: 'workron workers lists them' });
    const { json, quiet } = outputOf(command);
    if (json) return printData(worker, json);
    if (quiet) return print(worker.id);
    const { jobs } = await listJobs(connection, { worker_id: id, status: 'running' }, MAX_JOBS);
    print(describeWorker(worker) + jobsText(jobs));
  });
}

function describeWorker(worker: Worker): string {
  return factsText(`worker ${worker.id}  ${oneLine(worker.name)}`, [
    ['state', worker.state],
    ['busy', `${worker.running} of ${countText(worker.slots, 'slot')}`],
    ['used', oneLine(capacityText(worker))],
    ['reserved', worker.reserved === null ? null : reservationText(worker.reserved)],
    ['queues', oneLine(worker.queues?.join(', ') ?? 'all')],
    ['tags', oneLine(worker.tags.join(', '))],
    ['runs', oneLine([...(worker.commands ? ['commands'] : []), ...worker.handlers].join(', '))],
    ['machine', oneLine(`${worker.host}${worker.pid === null ? '' : `, process ${worker.pid}`}`)],
    ['address', worker.address === null ? null : oneLine(worker.address)],
    ['attached', `${worker.attachment}, instance ${oneLine(worker.instance_id)}`],
    ['token', worker.registered_by === null ? null : oneLine(worker.registered_by)],
    ['version', oneLine(worker.version)],
    ['lease', formatDuration(worker.lease)],
    ['started', when(worker.registered_at)],
    ['seen', when(worker.last_heartbeat)],
  ]);
}

function jobsText(jobs: readonly ListedJob[]): string {
  const columns = JOB_COLUMNS.filter(({ title }) => SHOWN_COLUMNS.includes(title));
  return jobs.length === 0 ? '' : `\n${renderTable(columns, jobs, terminalWidth())}`;
}

/** `gpu 1/2, memory_mb 0/4096` */
export function capacityText({ resources, used }: Worker): string {
  const amounts = Object.entries(resources).map(([name, total]) => `${name} ${used[name] ?? 0}/${total}`);
  return amounts.join(', ') || '–';
}

/** `#7: gpu 2, in 5m` */
export function reservationText({ job_id, resources, starts_at }: NonNullable<Worker['reserved']>): string {
  const amounts = Object.entries(resources).map(([name, amount]) => `${name} ${amount}`);
  return `#${job_id}: ${amounts.join(', ')}${starts_at === null ? '' : `, ${when(starts_at)}`}`;
}
