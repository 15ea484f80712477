import type { Command } from 'commander';
import type { Cluster } from '../../api/cluster.ts';
import { countText } from '../../api/count-text.ts';
import type { Health, Readiness } from '../../api/health.ts';
import type { Queue } from '../../api/queue.ts';
import { routes } from '../../api/routes.ts';
import type { Worker } from '../../api/worker.ts';
import { clientCommand, connect, outputOf, print, printData } from '../client-command.ts';
import { EXIT } from '../errors/exit-code.ts';
import { oneLine, styled } from '../output/style.ts';
import { span } from '../output/when.ts';
import { listWorkers } from './list-workers.ts';
import { stuckJobs } from './stuck-jobs.ts';

interface Status {
  health: Health;
  ready: Readiness;
  /** `null` if the server is not ready and did not answer, like `workers` and `cluster`. */
  queues: Queue[] | null;
  workers: Worker[] | null;
  cluster: Cluster | null;
  /** One sentence each; empty if all is well. */
  problems: string[];
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
    const health = await connection.report(routes.readHealth);
    const ready = await connection.report(routes.readReady);
    const call = ready.ready ? {} : { timeoutMs: TIMEOUT_MS };
    const ask = <T>(answer: Promise<T>): Promise<T | null> => (ready.ready ? answer : answer.catch(() => null));
    const [queues, workers, cluster] = await Promise.all([
      ask(connection.json(routes.listQueues, call)),
      ask(listWorkers(connection, call)),
      ask(connection.json(routes.readCluster, call)),
    ]);
    const seen = { health, ready, queues: queues?.items ?? null, workers, cluster };
    const stuck = ready.ready && isServed(seen) ? await stuckJobs(connection, seen.queues ?? []) : [];
    const status: Status = { ...seen, problems: [...problemsOf(seen), ...stuck] };
    const { json } = outputOf(command);
    if (json) printData(status, json);
    else print(describe(status));
    process.exitCode = isWell(status) ? EXIT.ok : EXIT.failed;
  });
}

type Seen = Omit<Status, 'problems'>;

function isWell({ health, ready, problems }: Status): boolean {
  return health.status === 'ok' && ready.ready && problems.length === 0;
}

function problemsOf(seen: Seen): string[] {
  const waiting = unserved(seen);
  return [
    ...seen.ready.problems,
    ...leaderless(seen.cluster).map((duty) => `nobody leads the ${duty}`),
    ...(waiting === null ? [] : [waiting]),
    ...seen.health.stuck.map((loop) => `the ${loop} is stuck`),
  ];
}

function isServed({ workers }: Seen): boolean {
  return workers?.some(({ state }) => state === 'online') === true;
}

/** Jobs that wait though nobody is there to run them; `null` if there are none. A paused queue waits for a person. */
function unserved(seen: Seen): string | null {
  const { queues, workers } = seen;
  if (queues === null || workers === null || isServed(seen)) return null;
  const open = queues.filter(({ paused }) => !paused);
  const pending = total(open, 'pending');
  if (pending === 0) return null;
  return `no worker is online, and ${countText(pending, 'job waits', 'jobs wait')}${oldest(open)}`;
}

function leaderless(cluster: Cluster | null): string[] {
  return (cluster?.duties ?? []).filter(({ leader }) => leader === null).map(({ duty }) => duty);
}

function describe(status: Status): string {
  const { health, queues, workers, cluster, problems } = status;
  const well = isWell(status);
  const icon = process.stdout.isTTY ? '● ' : '';
  const word = styled(well ? 'green' : 'red', `${icon}${well ? 'healthy' : 'unhealthy'}`);
  const lines = [
    `${word}  ${health.driver}, up ${span(health.uptime_seconds * 1_000)}, version ${health.version}`,
    ...(workers === null ? [] : [describeWorkers(workers)]),
    ...(cluster === null ? [] : describeCluster(cluster)),
    ...(queues === null ? [] : describeQueues(queues)),
  ];
  lines.push(...problems.map((problem) => `problem: ${problem}`));
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
