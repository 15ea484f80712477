import { Argument, type Command } from 'commander';
import type { Queue } from '../../api/queue.ts';
import { routes } from '../../api/routes.ts';
import { standstillText } from '../../api/words/worries.ts';
import { didYouMean } from '../../core/suggest.ts';
import { addListing, clientCommand, connect, listCommand, outputOf, print, printData } from '../client-command.ts';
import { CliError, usageError } from '../errors/cli-error.ts';
import { note, reportError } from '../errors/report.ts';
import { quote } from '../flags/job.ts';
import { countFlag, limitFlag, rateOrNone } from '../flags/values.ts';
import { listText } from '../output/list.ts';
import { oneLine } from '../output/style.ts';
import type { Column } from '../output/table.ts';
import { when } from '../output/when.ts';
import { queueShowCommand, rateText, usedQueues } from './queue-show.ts';
import { lateWaits } from './worries-now.ts';

const COLUMNS: readonly Column<Queue & { note?: string }>[] = [
  { title: 'QUEUE', text: (queue) => oneLine(queue.name), flexible: true, identifies: true },
  {
    title: 'STATE',
    text: (queue) => (queue.paused ? 'paused' : 'open'),
    format: (queue) => (queue.paused ? 'yellow' : 'green'),
  },
  { title: 'RUNNING', text: (queue) => String(queue.running), align: 'right' },
  { title: 'LIMIT', text: (queue) => String(queue.max_running ?? '–'), align: 'right' },
  { title: 'RATE', text: ({ rate }) => (rate === null ? '–' : rateText(rate)), align: 'right' },
  { title: 'PENDING', text: (queue) => String(queue.pending), align: 'right' },
  { title: 'SCHEDULED', text: (queue) => String(queue.scheduled), align: 'right' },
  { title: 'BLOCKED', text: (queue) => String(queue.blocked), align: 'right' },
  { title: 'OLDEST', text: (queue) => when(queue.oldest_pending_at) },
  { title: 'NOTE', text: ({ note: text }) => oneLine(text ?? ''), flexible: true, readable: 40 },
];

const LISTING = { columns: COLUMNS, id: ({ name }: Queue) => name, none: 'no queues' };

/** `workron queues`: lists them; `show` is about one, `pause`, `resume` and `set` change them. */
export function queuesCommand(): Command {
  const command = listCommand('queues', 'List and show queues; pause, resume, limit or delete them').alias('queue');
  addListing(command, 'List queues', async (called) => {
    const connection = connect(called);
    const { queues } = await usedQueues(connection);
    const output = outputOf(called);
    const waits = output.json || output.quiet ? new Map() : await lateWaits(connection, queues);
    const rows = queues.map((queue) => {
      const text = standstillText(waits.get(queue.name));
      return text === null ? queue : { ...queue, note: text };
    });
    print(listText(rows, LISTING, output));
  });
  command.addCommand(queueShowCommand());
  command.addCommand(changeCommand('pause', 'Stop starting jobs of these queues', () => ({ paused: true })));
  command.addCommand(changeCommand('resume', 'Start jobs of these queues again', () => ({ paused: false })));
  const set = changeCommand('set', 'Change the limits of these queues', ({ maxRunning, rate, burst }) => {
    if (maxRunning === undefined && rate === undefined)
      throw usageError('expected --max-running or --rate', 'workron queues set mail --max-running 4');
    if (burst !== undefined && (rate === undefined || rate === 'none'))
      throw usageError('--burst needs --rate LIMIT/PER', 'workron queues set mail --rate 100/1m --burst 20');
    return {
      ...(maxRunning !== undefined && { max_running: maxRunning === 'none' ? null : maxRunning }),
      ...(rate !== undefined && { rate: rate === 'none' ? null : { ...rate, ...(burst !== undefined && { burst }) } }),
    };
  });
  command.addCommand(rmCommand());
  command.addCommand(
    set
      .option('--max-running <NUMBER|none>', 'Maximum running jobs, over all workers', limitFlag)
      .option('--rate <LIMIT/PER|none>', 'Maximum starts per period, over all workers: 100/1m', rateOrNone)
      .option('--burst <NUMBER>', 'Extra starts allowed after a quiet period', countFlag(0, 100_000)),
  );
  return command;
}

interface ChangeOptions {
  maxRunning?: number | 'none';
  rate?: ReturnType<typeof rateOrNone>;
  burst?: number;
}

function changeCommand(name: string, summary: string, body: (options: ChangeOptions) => object): Command {
  const command = clientCommand(name, summary).addArgument(new Argument('<name...>', 'Queue names'));
  return command.action(async (queues: string[], options: ChangeOptions) => {
    const connection = connect(command);
    const { json, quiet } = outputOf(command);
    const known = (await usedQueues(connection)).queues.map(({ name }) => name);
    const changed: Queue[] = [];
    for (const queue of queues) {
      changed.push(await connection.json(routes.editQueue, { params: { name: queue }, body: body(options) }));
      if (!json && !quiet && !known.includes(queue)) noteNew(queue, known);
    }
    if (json) printData(changed.length === 1 ? changed[0] : changed, json);
    else for (const queue of changed) print(quiet ? queue.name : describe(queue));
  });
}

/** A misspelt name makes a queue, too. */
function noteNew(queue: string, known: readonly string[]): void {
  const suggestion = didYouMean(queue, known);
  note(
    `queue ${oneLine(queue)} is new${suggestion === undefined ? '' : `; ${suggestion}`} (workron queues rm ${quote(queue)} deletes it)`,
  );
}

/** Tries all queues; the first error decides the exit code. */
function rmCommand(): Command {
  const command = clientCommand('rm', 'Delete the settings of queues without unfinished jobs');
  return command.addArgument(new Argument('<name...>', 'Queue names')).action(async (queues: string[]) => {
    const connection = connect(command);
    const { json, quiet } = outputOf(command);
    const deleted: string[] = [];
    for (const name of queues) {
      try {
        await connection.json(routes.deleteQueue, { params: { name } });
        deleted.push(name);
      } catch (error) {
        if (!(error instanceof CliError)) throw error;
        reportError(error, json);
        process.exitCode ??= error.exitCode;
      }
    }
    if (json) printData(deleted, json);
    else for (const name of deleted) print(quiet ? name : `queue ${oneLine(name)} is deleted`);
  });
}

function describe(queue: Queue): string {
  const limit = queue.max_running === null ? 'no limit' : `at most ${queue.max_running} at once`;
  const { rate } = queue;
  const starts = rate === null ? '' : `, at most ${rateText(rate)} start`;
  return `queue ${queue.name} is ${queue.paused ? 'paused' : 'open'}, ${limit}${starts}`;
}
