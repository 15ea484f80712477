/** What is wrong now, one sentence per worry, the worst first: `workron status` and the page say the same. */

import { NOTIFY_QUEUE } from '../../core/notify.ts';
import { countText } from '../count-text.ts';
import type { Failures } from '../failures.ts';
import type { JobDetail, ListedJob } from '../job.ts';
import type { Queue } from '../queue.ts';
import type { ScheduleDetail } from '../schedule.ts';
import type { Stats } from '../stats.ts';
import type { Waiting } from '../waiting.ts';
import type { Worker } from '../worker.ts';
import { sharedWaitText } from './waiting.ts';

export interface Worry {
  tone: 'red' | 'amber';
  text: string;
  /** Where the page shows more of it. */
  href: string;
}

export interface Watched {
  queues: readonly Queue[];
  workers: readonly Worker[];
  schedules: readonly ScheduleDetail[];
  /** Of the last `RECENT`, by queue. */
  recent: Stats | undefined;
  failures: Failures | undefined;
  /** What the oldest job of each late queue waits for. */
  waits: ReadonlyMap<string, Waiting>;
  now: number;
  /** A duration as its reader wants it. */
  span: (ms: number) => string;
}

/** Failures before that are history: what is wrong now has failed since. */
export const RECENT = '15m';
const RECENT_MS = 15 * 60_000;
/** A worker may be about to start. */
const LATE_MS = 60_000;
export const VERY_LATE_MS = 5 * 60_000;
/** The share of failures from which they are a worry. */
const MANY = 0.05;
const MAX_ASKED = 5;

export function worriesOf(watched: Watched): Worry[] {
  const all = [workerWorries, queueWorries, scheduleWorries, failureWorries].flatMap((worries) => worries(watched));
  return all.sort((a, b) => Number(b.tone === 'red') - Number(a.tone === 'red'));
}

/** Queues in which a job waits for long, though nobody has paused them. */
function lateQueues(queues: readonly Queue[], now: number): Queue[] {
  return queues.filter(({ paused, oldest_pending_at: at }) => !paused && at !== null && now - Date.parse(at) > LATE_MS);
}

/** `waits for a worker with tag gpu: none is online`; `null` if its jobs wait for their turn. */
export function standstillText(wait: Waiting | undefined): string | null {
  const what = wait === undefined ? null : sharedWaitText(wait);
  return what === null ? null : `waiting for ${what}`;
}

/** What the oldest job of each late queue waits for, as far as it is among the newest pending jobs. */
export async function waitsOfLate(
  { queues, now }: Pick<Watched, 'queues' | 'now'>,
  ask: { pending: () => Promise<readonly ListedJob[]>; read: (id: string) => Promise<JobDetail> },
): Promise<Map<string, Waiting>> {
  const late = lateQueues(queues, now).slice(0, MAX_ASKED);
  if (late.length === 0) return new Map();
  const jobs = await ask.pending();
  const waits = await Promise.all(
    late.map(async ({ name }): Promise<[string, Waiting][]> => {
      const oldest = jobs.findLast(({ queue }) => queue === name);
      // The job may be gone by now.
      const job = oldest === undefined ? null : await ask.read(oldest.id).catch(() => null);
      return job?.waiting == null ? [] : [[name, job.waiting]];
    }),
  );
  return new Map(waits.flat());
}

function workerWorries({ workers, queues, now, span }: Watched): Worry[] {
  if (workers.some(({ state }) => state === 'online')) return [];
  const draining = workers.some(({ state }) => state === 'draining');
  const none = draining ? 'No worker takes new jobs' : 'No worker is online';
  const open = queues.filter(({ paused, pending }) => !paused && pending > 0);
  if (open.length === 0) return [{ tone: 'amber', text: none, href: '/workers' }];
  const jobs = open.reduce((sum, { pending }) => sum + pending, 0);
  const oldest = Math.min(...open.map(({ oldest_pending_at: at }) => Date.parse(at ?? new Date(now).toISOString())));
  const text = `${none}, and ${countText(jobs, 'job waits', 'jobs wait')} (oldest ${span(now - oldest)})`;
  return [{ tone: 'red', text, href: '/workers' }];
}

function queueWorries({ queues, workers, waits, now, span }: Watched): Worry[] {
  const paused = queues
    .filter((queue) => queue.paused && queue.pending > 0)
    .map(({ name, pending }): Worry => {
      return { tone: 'amber', text: `${name}: paused, ${countText(pending, 'job')} waiting`, href: '/queues' };
    });
  // Nobody takes anything: that is one worry, not one for each queue.
  if (!workers.some(({ state }) => state === 'online')) return paused;
  const late = lateQueues(queues, now).flatMap(({ name, pending, oldest_pending_at: at }): Worry[] => {
    const wait = waits.get(name);
    const waited = now - Date.parse(at as string);
    const isUnserved = wait?.code === 'worker';
    if (!isUnserved && waited < VERY_LATE_MS) return [];
    const what = standstillText(wait);
    const jobs = countText(pending, 'job has', 'jobs have');
    const text = `${name}: ${jobs} waited ${pending === 1 ? '' : 'up to '}${span(waited)}`;
    const href = `/jobs?status=pending&queue=${encodeURIComponent(name)}`;
    return [{ tone: isUnserved ? 'red' : 'amber', text: what === null ? text : `${text}: ${what}`, href }];
  });
  return [...paused, ...late];
}

/** The recent runs of a schedule that ended, and how many of them failed. */
export function endedRuns({ recent }: Pick<ScheduleDetail, 'recent'>): { ended: number; failed: number } {
  const failed = recent.failed ?? 0;
  return { ended: failed + (recent.done ?? 0), failed };
}

function scheduleWorries({ schedules, now, span }: Watched): Worry[] {
  const failing = schedules.filter(({ paused_at, last_status }) => paused_at === null && last_status === 'failed');
  const late = schedules.filter(({ next_run }) => next_run !== null && now - Date.parse(next_run) > LATE_MS);
  const one = (schedule: ScheduleDetail): Worry => {
    const { ended, failed } = endedRuns(schedule);
    const rate = failed <= 1 ? 'its last run failed' : `${failed} of its last ${ended} runs failed`;
    return { tone: 'red', text: `Schedule ${schedule.name}: ${rate}`, href: `/schedules/${schedule.name}` };
  };
  return [
    ...(failing.length <= 3
      ? failing.map(one)
      : [{ tone: 'red' as const, text: `${failing.length} schedules are failing`, href: '/schedules?filter=failing' }]),
    ...late.slice(0, 3).map(({ name, next_run }): Worry => {
      const text = `Schedule ${name} is ${span(now - Date.parse(next_run as string))} late`;
      return { tone: 'red', text, href: `/schedules/${name}` };
    }),
  ];
}

function failureWorries({ recent, failures, now }: Watched): Worry[] {
  const count = (outcome: string, isDelivery: boolean): number => {
    const items = recent?.items ?? [];
    const some = items.filter((item) => item.outcome === outcome && (item.queue === NOTIFY_QUEUE) === isDelivery);
    return some.reduce((sum, item) => sum + item.count, 0);
  };
  const worries: Worry[] = [];
  const failed = count('failed', false);
  if (failed > 0) {
    const ended = failed + count('done', false);
    const worst = failures?.items.find(
      ({ last_at, queues }) => now - Date.parse(last_at) < RECENT_MS && !queues.includes(NOTIFY_QUEUE),
    );
    const what = worst === undefined ? '' : `, most often ${worst.title}`;
    worries.push({
      tone: failed >= ended * MANY ? 'red' : 'amber',
      text: `${failed} of ${countText(ended, 'job')} failed in the last 15 minutes${what}`,
      href: '/jobs?status=failed&from=24h',
    });
  }
  const undelivered = count('failed', true);
  if (undelivered > 0) {
    const text = `${countText(undelivered, 'notification')} could not be delivered in the last 15 minutes`;
    const href = `/jobs?status=failed&from=24h&queue=${encodeURIComponent(NOTIFY_QUEUE)}`;
    worries.push({ tone: 'amber', text, href });
  }
  return worries;
}
