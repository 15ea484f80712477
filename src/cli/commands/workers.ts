import type { Command } from 'commander';
import { routes } from '../../api/routes.ts';
import type { Worker } from '../../api/worker.ts';
import { addListing, clientCommand, connect, listCommand, outputOf, print, printData } from '../client-command.ts';
import { listText } from '../output/list.ts';
import { oneLine } from '../output/style.ts';
import type { Column } from '../output/table.ts';
import { when } from '../output/when.ts';
import { listWorkers } from './list-workers.ts';
import { capacityText, reservationText, workerShowCommand } from './worker-show.ts';

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
    print(listText(await listWorkers(connect(called)), LISTING, outputOf(called)));
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
  return command.argument('<id...>', 'Worker ids').action(async (ids: string[]) => {
    const connection = connect(command);
    const workers: Worker[] = [];
    for (const id of ids) workers.push(await connection.json(route, { params: { id } }));
    const { json, quiet } = outputOf(command);
    if (json) printData(workers.length === 1 ? workers[0] : workers, json);
    else
      for (const worker of workers)
        print(quiet ? worker.id : `worker ${worker.id} (${oneLine(worker.name)}) ${describe(worker)}`);
  });
}
