/** Queues and keyed limits: what may run at a time. */

import { type Command } from 'commander';
import type { Limit } from '../../api/capacity.ts';
import { added, percentile } from '../../api/percentile.ts';
import type { Queue } from '../../api/queue.ts';
import { routes } from '../../api/routes.ts';
import type { Stats } from '../../api/stats.ts';
import { withUsed } from '../../api/used-queues.ts';
import type { Waiting } from '../../api/waiting.ts';
import { standstillText } from '../../api/words/worries.ts';
import { formatDuration } from '../../core/duration.ts';
import { didYouMean } from '../../core/suggest.ts';
import {
  addListing,
  changeEach,
  clientCommand,
  connect,
  listCommand,
  outputOf,
  print,
  printData,
} from '../client-command.ts';
import type { Connection } from '../connection.ts';
import { CliError, EXIT, usageError } from '../errors/cli-error.ts';
import { note } from '../errors/report.ts';
import { countFlag, limitFlag, rateOrNone } from '../flags/values.ts';
import { quote } from '../input/shell-line.ts';
import { factsText, oneLine } from '../output/style.ts';
import { type Column, printList } from '../output/table.ts';
import { span, when } from '../output/when.ts';
import { lateWaits } from './worries.ts';

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
    printList(rows, LISTING, output);
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
  const command = clientCommand(name, summary).argument('<name...>', 'Queue names');
  return command.action(async (queues: string[], options: ChangeOptions) => {
    const { json, quiet } = outputOf(command);
    const wanted = body(options);
    const known = (await usedQueues(connect(command))).queues.map((queue) => queue.name);
    await changeEach(command, queues, {
      act: async (connection, queue) => {
        const changed = await connection.json(routes.editQueue, { params: { name: queue }, body: wanted });
        if (!json && !quiet && !known.includes(queue)) noteNew(queue, known);
        return changed;
      },
      id: (queue) => queue.name,
      text: settingsText,
    });
  });
}

/** A misspelt name makes a queue, too. */
function noteNew(queue: string, known: readonly string[]): void {
  const suggestion = didYouMean(queue, known);
  note(
    `queue ${oneLine(queue)} is new${suggestion === undefined ? '' : `; ${suggestion}`} (workron queues rm ${quote(queue)} deletes it)`,
  );
}

function rmCommand(): Command {
  const command = clientCommand('rm', 'Delete the settings of queues without unfinished jobs');
  return command.argument('<name...>', 'Queue names').action((names: string[]) =>
    changeEach(command, names, {
      act: async (connection, name) => {
        await connection.json(routes.deleteQueue, { params: { name } });
        return name;
      },
      id: (name) => name,
      text: (name) => `queue ${oneLine(name)} is deleted`,
      listed: true,
    }),
  );
}

function settingsText(queue: Queue): string {
  const limit = queue.max_running === null ? 'no limit' : `at most ${queue.max_running} at once`;
  const { rate } = queue;
  const starts = rate === null ? '' : `, at most ${rateText(rate)} start`;
  return `queue ${queue.name} is ${queue.paused ? 'paused' : 'open'}, ${limit}${starts}`;
}

interface UsedQueues {
  queues: Queue[];
  /** Of the last hour. */
  stats: Stats;
}

/** The queues that have a setting or an unfinished job, or were used in the last hour. */
export async function usedQueues(connection: Connection, call: { timeoutMs?: number } = {}): Promise<UsedQueues> {
  const [{ items }, stats] = await Promise.all([
    connection.json(routes.listQueues, call),
    connection.json(routes.readStats, { query: { from: '1h', step: '1h' }, ...call }),
  ]);
  return {
    queues: withUsed(
      items,
      stats.items.map(({ queue }) => queue),
    ),
    stats,
  };
}

/** `workron queues show NAME`: prints its settings, what waits and runs, and what it did in the last hour. */
function queueShowCommand(): Command {
  const command = clientCommand('show', 'Show a queue: its limits, its jobs and its last hour');
  return command.argument('<name>', 'Queue name').action(async (name: string) => {
    const connection = connect(command);
    const { queues, stats } = await usedQueues(connection);
    const queue = queues.find((each) => each.name === name);
    if (queue === undefined) throw unknownQueue(name, queues);
    const { json, quiet } = outputOf(command);
    if (json) printData(queue, json);
    else if (quiet) print(queue.name);
    else print(describeQueue(queue, stats, (await lateWaits(connection, [queue])).get(name)));
  });
}

function unknownQueue(name: string, queues: readonly Queue[]): CliError {
  const hint = didYouMean(
    name,
    queues.map((queue) => queue.name),
  );
  return new CliError(EXIT.notFound, `queue ${oneLine(name)} has no setting and no unfinished or recent job`, { hint });
}

function describeQueue(queue: Queue, stats: Stats, wait: Waiting | undefined): string {
  const { pending, oldest_pending_at: oldest, paused_at: pausedAt } = queue;
  return factsText(`queue ${oneLine(queue.name)}`, [
    ['state', queue.paused ? `paused${pausedAt === null ? '' : ` ${when(pausedAt)}`}` : 'open'],
    ['running', `${queue.running}${queue.max_running === null ? '' : ` of at most ${queue.max_running}`}`],
    ['rate', queue.rate === null ? null : `at most ${rateText(queue.rate)} start`],
    ['pending', `${pending}${oldest === null ? '' : `, oldest ${when(oldest)}`}`],
    ['why', standstillText(wait)],
    ['scheduled', String(queue.scheduled)],
    ['blocked', String(queue.blocked)],
    ['last hour', lastHour(queue.name, stats)],
  ]);
}

function lastHour(name: string, { items, buckets }: Stats): string {
  const own = items.filter(({ queue }) => queue === name);
  const count = (outcome: string): number =>
    own.filter((item) => item.outcome === outcome).reduce((sum, item) => sum + item.count, 0);
  const p95 = (of: 'wait' | 'run'): string => {
    const value = percentile(added(own.map((item) => item[of])), buckets, 0.95);
    return value === null ? '' : `, p95 ${of} ${span(value)}`;
  };
  return `${count('done')} done, ${count('failed')} failed${p95('wait')}${p95('run')}`;
}

/** `100/1m`, with a burst `100/1m+20`. */
export function rateText({ limit, per, burst }: NonNullable<Queue['rate']>): string {
  return `${limit}/${formatDuration(per)}${burst === 0 ? '' : `+${burst}`}`;
}

const LIMIT_COLUMNS: readonly Column<Limit>[] = [
  { title: 'KEY', text: ({ key }) => oneLine(key), flexible: true, identifies: true },
  { title: 'SET', text: ({ max }) => String(max ?? '–'), align: 'right' },
  { title: 'RUNNING', text: ({ running }) => String(running), align: 'right' },
  { title: 'WAITING', text: ({ waiting }) => String(waiting), align: 'right' },
];

const LIMIT_LISTING = { columns: LIMIT_COLUMNS, id: ({ key }: Limit) => key, none: 'no limits' };

/** `workron limits`: lists the limits of keys; `set` and `rm` change them for all jobs. */
export function limitsCommand(): Command {
  const command = listCommand('limits', 'List the limits of keys; set them for all jobs').alias('limit');
  addListing(command, 'List limits of keys', async (called) => {
    const { items } = await connect(called).json(routes.listLimits);
    printList(items, LIMIT_LISTING, outputOf(called));
  });
  const set = clientCommand('set', "Cap running jobs per key, overriding the jobs' own limits");
  set.option('--max <NUMBER>', 'Maximum running jobs, over all workers', countFlag(1, 1_000_000));
  command.addCommand(
    changeLimits(set, async (connection, key) => {
      const { max } = set.opts<{ max?: number }>();
      if (max === undefined) throw usageError('expected --max', 'workron limits set customer:42 --max 5');
      return await connection.json(routes.setLimit, { params: { key }, body: { max } });
    }),
  );
  const rm = clientCommand('rm', "Remove the override; the jobs' own limits apply");
  command.addCommand(changeLimits(rm, (connection, key) => connection.json(routes.deleteLimit, { params: { key } })));
  return command;
}

function changeLimits(command: Command, act: (connection: Connection, key: string) => Promise<Limit>): Command {
  return command
    .argument('<key...>', 'Keys')
    .action((keys: string[]) => changeEach(command, keys, { act, id: ({ key }) => key, text: limitText }));
}

function limitText({ key, max, running }: Limit): string {
  const limit = max === null ? 'the limit of each job counts' : `at most ${max} at once`;
  return `key ${oneLine(key)}: ${limit}, ${running} running`;
}
