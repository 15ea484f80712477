import type { Command } from 'commander';
import { added, percentile } from '../../api/percentile.ts';
import type { Queue } from '../../api/queue.ts';
import { routes } from '../../api/routes.ts';
import type { Stats } from '../../api/stats.ts';
import { withUsed } from '../../api/used-queues.ts';
import type { Waiting } from '../../api/waiting.ts';
import { standstillText } from '../../api/words/worries.ts';
import { formatDuration } from '../../core/duration.ts';
import { didYouMean } from '../../core/suggest.ts';
import { clientCommand, connect, outputOf, print, printData } from '../client-command.ts';
import type { Connection } from '../connection.ts';
import { CliError } from '../errors/cli-error.ts';
import { EXIT } from '../errors/exit-code.ts';
import { factsText } from '../output/facts.ts';
import { oneLine } from '../output/style.ts';
import { span, when } from '../output/when.ts';
import { lateWaits } from './worries-now.ts';

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
export function queueShowCommand(): Command {
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
