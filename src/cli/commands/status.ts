/** How an installation does. */

import type { Command } from 'commander';
import type { Cluster } from '../../api/cluster.ts';
import { countText } from '../../api/count-text.ts';
import type { Health, Readiness } from '../../api/health.ts';
import type { Queue } from '../../api/queue.ts';
import { routes } from '../../api/routes.ts';
import type { Stats } from '../../api/stats.ts';
import type { Worry } from '../../api/words/worries.ts';
import type { Worker } from '../../api/worker.ts';
import { clientCommand, connect, outputOf, print, printData } from '../client-command.ts';
import { EXIT } from '../errors/cli-error.ts';
import { oneLine, styled } from '../output/style.ts';
import { span } from '../output/when.ts';
import { listWorkers } from './workers.ts';
import { worriesNow } from './worries.ts';

interface Status {
  health: Health;
  ready: Readiness;
  /** `null` if the server is not ready and did not answer, like `workers` and `cluster`. */
  queues: Queue[] | null;
  workers: Worker[] | null;
  cluster: Cluster | null;
  /** Of the last day. */
  day: Stats | null;
  /** One sentence each; empty if all is well. */
  problems: string[];
  /** What is worth a look, and no reason to say that something is wrong. */
  notes: string[];
}

/**
 * The timeout of requests to a server that is not ready. A draining server still answers; one whose store is unavailable
 * would keep the command waiting.
 */
const TIMEOUT_MS = 3_000;

/** `workron status`: prints health, running and waiting jobs. Exit code 1 if something is wrong. */
export function statusCommand(): Command {
  const command = clientCommand('status', 'Show health, running and waiting jobs', { ids: false });
  return command.action(async () => {
    const connection = connect(command);
    // Both return 503 with a document that lists the problems.
    const health = await connection.json(routes.readHealth);
    const ready = await connection.json(routes.readReady);
    const call = ready.ready ? {} : { timeoutMs: TIMEOUT_MS };
    const ask = <T>(answer: Promise<T>): Promise<T | null> => (ready.ready ? answer : answer.catch(() => null));
    const [queues, workers, cluster, day] = await Promise.all([
      ask(connection.json(routes.listQueues, call)),
      ask(listWorkers(connection, call)),
      ask(connection.json(routes.readCluster, call)),
      ask(connection.json(routes.readStats, { query: { from: '24h', step: '24h', by: 'outcome' }, ...call })),
    ]);
    const seen = { health, ready, queues: queues?.items ?? null, workers, cluster, day };
    const worries = ready.ready
      ? await worriesNow(connection, { queues: seen.queues ?? [], workers: workers ?? [] })
      : [];
    const told = (tone: Worry['tone']) =>
      worries.filter((worry) => worry.tone === tone).map(({ text }) => oneLine(text));
    const status: Status = { ...seen, problems: [...problemsOf(seen), ...told('red')], notes: told('amber') };
    const { json } = outputOf(command);
    if (json) printData(status, json);
    else print(describe(status));
    process.exitCode = isWell(status) ? EXIT.ok : EXIT.failed;
  });
}

/** `workron health`: for scripts and containers. Exit code 0 if the server works, 1 if not, 6 if it does not answer. */
export function healthCommand(): Command {
  const command = clientCommand('health', 'Exit with 0 if the server works, else with 1 or 6', { ids: false });
  return command.action(async () => {
    const connection = connect(command);
    const health = await connection.json(routes.readHealth);
    const ready = await connection.json(routes.readReady);
    const problems = [...ready.problems, ...health.stuck.map((loop) => `the ${loop} is stuck`)];
    const isOk = health.status === 'ok' && ready.ready;
    const { json, quiet } = outputOf(command);
    if (json) printData({ ok: isOk, problems }, json);
    else if (!quiet) print(isOk ? 'ok' : problems.join('\n') || 'not ready');
    process.exitCode = isOk ? EXIT.ok : EXIT.failed;
  });
}

type Seen = Omit<Status, 'problems' | 'notes'>;

function isWell({ health, ready, problems }: Status): boolean {
  return health.status === 'ok' && ready.ready && problems.length === 0;
}

function problemsOf(seen: Seen): string[] {
  return [
    ...seen.ready.problems,
    ...leaderless(seen.cluster).map((duty) => `nobody leads the ${duty}`),
    ...seen.health.stuck.map((loop) => `the ${loop} is stuck`),
  ];
}

function leaderless(cluster: Cluster | null): string[] {
  return (cluster?.duties ?? []).filter(({ leader }) => leader === null).map(({ duty }) => duty);
}

function describe(status: Status): string {
  const { health, queues, workers, cluster, day, problems, notes } = status;
  const well = isWell(status);
  const icon = process.stdout.isTTY ? '● ' : '';
  const isUp = health.status === 'ok' && status.ready.ready;
  const word = styled(well ? 'green' : 'red', `${icon}${well ? 'healthy' : isUp ? 'needs attention' : 'unhealthy'}`);
  const lines = [
    `${word}  ${health.driver}, up ${span(health.uptime_seconds * 1_000)}, version ${health.version}`,
    ...(workers === null ? [] : [describeWorkers(workers)]),
    ...(cluster === null ? [] : describeCluster(cluster)),
    ...(queues === null ? [] : describeQueues(queues)),
    ...(day === null ? [] : [`done ${day.totals.done}  failed ${day.totals.failed}  in the last 24 h`]),
    ...problems.map((problem) => `problem: ${problem}`),
    ...notes.map((each) => `note: ${each}`),
  ];
  return lines.join('\n');
}

function describeWorkers(workers: readonly Worker[]): string {
  const here = workers.filter((worker) => worker.state !== 'offline');
  const slots = sum(here.map((worker) => worker.slots));
  return `${countText(here.length, 'worker')}, ${sum(here.map((worker) => worker.running))} of ${countText(slots, 'slot')} busy`;
}

function describeQueues(queues: readonly Queue[]): string[] {
  const paused = queues.filter((queue) => queue.paused).map((queue) => queue.name);
  return [
    `running ${total(queues, 'running')}  pending ${total(queues, 'pending')}${oldest(queues)}  scheduled ${total(queues, 'scheduled')}  blocked ${total(queues, 'blocked')}`,
    ...(paused.length > 0 ? [`paused: ${paused.join(', ')}`] : []),
  ];
}

/** `3 instances (2 schedulers), led by host-4711-a1b2c3`, and the ids of instances that are offline. */
function describeCluster(cluster: Cluster): string[] {
  const online = cluster.instances.filter(({ state }) => state === 'online');
  const schedulers = online.filter(({ roles }) => roles.includes('scheduler')).length;
  const leaders = new Set(cluster.duties.flatMap(({ leader }) => (leader === null ? [] : [oneLine(leader)])));
  const led = leaders.size === 0 ? 'led by nobody' : `led by ${[...leaders].join(', ')}`;
  const lines = [`${countText(online.length, 'instance')} (${countText(schedulers, 'scheduler')}), ${led}`];
  const silent = cluster.instances.filter(({ state }) => state === 'offline').map(({ id }) => oneLine(id));
  if (silent.length > 0) lines.push(`silent: ${silent.join(', ')}`);
  return lines;
}

function oldest(queues: readonly Queue[]): string {
  const instants = queues.flatMap((queue) =>
    queue.oldest_pending_at === null ? [] : [Date.parse(queue.oldest_pending_at)],
  );
  return instants.length === 0 ? '' : ` (oldest ${span(Date.now() - Math.min(...instants))})`;
}

function total(queues: readonly Queue[], key: 'running' | 'pending' | 'scheduled' | 'blocked'): number {
  return sum(queues.map((queue) => queue[key]));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
