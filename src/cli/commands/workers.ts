/** Who runs jobs: workers, and the instances of an installation. */

import type { Command } from 'commander';
import type { DutyStatus, Instance } from '../../api/cluster.ts';
import { countText } from '../../api/count-text.ts';
import { allPages } from '../../api/http-client.ts';
import type { ListedJob } from '../../api/job.ts';
import { routes } from '../../api/routes.ts';
import type { Worker } from '../../api/worker.ts';
import { formatDuration } from '../../core/duration.ts';
import {
  addListing,
  changeEach,
  clientCommand,
  connect,
  listCommand,
  outputOf,
  print,
  printData,
  refuseExtra,
  terminalWidth,
  workerId,
} from '../client-command.ts';
import type { Connection } from '../connection.ts';
import { CliError, EXIT } from '../errors/cli-error.ts';
import { factsText, oneLine } from '../output/style.ts';
import { type Column, printList, renderTable } from '../output/table.ts';
import { when } from '../output/when.ts';
import { JOB_COLUMNS, listJobs } from './jobs.ts';

const COLUMNS: readonly Column<Worker>[] = [
  { title: 'ID', text: (worker) => worker.id, align: 'right', identifies: true },
  {
    title: 'STATE',
    text: (worker) => worker.state,
    format: (worker) => (worker.state === 'online' ? 'green' : worker.state === 'draining' ? 'yellow' : 'dim'),
  },
  { title: 'NAME', text: (worker) => oneLine(worker.name), flexible: true, identifies: true },
  { title: 'BUSY', text: (worker) => `${Math.min(worker.running, worker.slots)}/${worker.slots}`, align: 'right' },
  { title: 'CLAIMED', text: (worker) => String(worker.running), align: 'right', wide: true },
  { title: 'USED', text: (worker) => oneLine(capacityText(worker)), flexible: true },
  { title: 'RESERVED', text: (worker) => (worker.reserved === null ? '–' : reservationText(worker.reserved)) },
  { title: 'QUEUES', text: (worker) => oneLine(worker.queues?.join(',') ?? 'all'), flexible: true },
  { title: 'TAGS', text: (worker) => oneLine(worker.tags.join(',') || '–'), flexible: true },
  { title: 'ATTACHED', text: (worker) => worker.attachment },
  { title: 'SEEN', text: (worker) => when(worker.last_heartbeat) },
];

const LISTING = { columns: COLUMNS, id: ({ id }: Worker) => id, none: 'no workers' };

/** `workron workers`: lists them; `show` is about one, `drain` makes one finish its jobs, `undrain` lets it take jobs again. */
export function workersCommand(): Command {
  const command = listCommand('workers', 'List and show workers; drain and undrain them');
  addListing(command, 'List workers', async (called) => {
    printList(await listWorkers(connect(called)), LISTING, outputOf(called));
  });
  return command.addCommand(workerShowCommand()).addCommand(drainCommand()).addCommand(undrainCommand());
}

function drainCommand(): Command {
  const command = clientCommand('drain', 'Let workers finish their running jobs and take no more');
  return forEachWorker(command, routes.drainWorker, () => 'is draining');
}

function undrainCommand(): Command {
  const command = clientCommand('undrain', 'Let draining workers take jobs again');
  return forEachWorker(command, routes.undrainWorker, ({ state }) =>
    state === 'offline' ? 'is offline: start it again' : 'takes jobs again',
  );
}

function forEachWorker(
  command: Command,
  route: typeof routes.drainWorker | typeof routes.undrainWorker,
  describe: (worker: Worker) => string,
): Command {
  return command.argument('<id...>', 'Worker ids').action((ids: string[]) =>
    changeEach(command, ids, {
      act: (connection, id) => connection.json(route, { params: { id } }),
      id: ({ id }) => id,
      text: (worker) => `worker ${worker.id} (${oneLine(worker.name)}) ${describe(worker)}`,
    }),
  );
}

const MAX_JOBS = 50;
const SHOWN_COLUMNS = ['ID', 'JOB', 'QUEUE', 'TRY', 'TIME', 'NOTE'];

/** `workron workers show ID`: prints what the worker is, what it can run and what it runs. */
function workerShowCommand(): Command {
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
function capacityText({ resources, used }: Worker): string {
  const amounts = Object.entries(resources).map(([name, total]) => `${name} ${used[name] ?? 0}/${total}`);
  return amounts.join(', ') || '–';
}

/** `#7: gpu 2, in 5m` */
function reservationText({ job_id, resources, starts_at }: NonNullable<Worker['reserved']>): string {
  const amounts = Object.entries(resources).map(([name, amount]) => `${name} ${amount}`);
  return `#${job_id}: ${amounts.join(', ')}${starts_at === null ? '' : `, ${when(starts_at)}`}`;
}

/** Returns all workers, from as many pages as needed. */
export function listWorkers(connection: Connection, call: { timeoutMs?: number } = {}): Promise<Worker[]> {
  return allPages((cursor) => connection.json(routes.listWorkers, { ...call, query: { cursor } }));
}

const INSTANCE_COLUMNS: readonly Column<Instance>[] = [
  { title: 'INSTANCE', text: (instance) => oneLine(instance.id), flexible: true, identifies: true },
  {
    title: 'STATE',
    text: (instance) => instance.state,
    format: (instance) => (instance.state === 'online' ? 'green' : 'red'),
  },
  { title: 'ROLES', text: (instance) => oneLine(instance.roles.join(',')) },
  { title: 'LEADS', text: (instance) => String(instance.leads.length), align: 'right' },
  { title: 'VERSION', text: (instance) => oneLine(instance.version), spare: true },
  { title: 'STARTED', text: (instance) => when(instance.started_at), spare: true },
  { title: 'SEEN', text: (instance) => when(instance.seen_at) },
  { title: 'API', text: (instance) => oneLine(instance.url ?? '–'), flexible: true },
];

const DUTY_COLUMNS: readonly Column<DutyStatus>[] = [
  { title: 'DUTY', text: ({ duty }) => duty, identifies: true },
  {
    title: 'LEADER',
    text: ({ leader }) => oneLine(leader ?? 'nobody'),
    flexible: true,
    format: ({ leader }) => (leader === null ? 'red' : 'reset'),
  },
  { title: 'TERM', text: ({ term }) => String(term), align: 'right' },
  { title: 'HELD BY', text: ({ held_by: heldBy }) => heldBy ?? '–' },
  { title: 'UNTIL', text: ({ expires_at: expiresAt }) => when(expiresAt) },
  { title: 'LOCK KEY', text: ({ lock_key: key }) => key?.join(', ') ?? '–' },
];

/** `workron cluster`: lists the instances on a store, and the leader of each duty. */
export function clusterCommand(): Command {
  const command = clientCommand('cluster', 'List the instances of this installation and the leader of each duty');
  return command.allowExcessArguments().action(async () => {
    refuseExtra(command);
    const cluster = await connect(command).json(routes.readCluster);
    const { json, quiet } = outputOf(command);
    if (json) printData(cluster, json);
    else if (quiet) print(cluster.instances.map(({ id }) => `${id}\n`).join(''));
    else {
      const tables = [renderTable(INSTANCE_COLUMNS, cluster.instances, terminalWidth())];
      if (cluster.duties.length > 0) tables.push(renderTable(DUTY_COLUMNS, cluster.duties, terminalWidth()));
      print(tables.join('\n'));
    }
  });
}
