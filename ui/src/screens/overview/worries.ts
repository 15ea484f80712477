/** What is wrong now, one sentence per worry, the worst first. */

import type { Failures } from '../../../../src/api/failures.ts';
import type { Job } from '../../../../src/api/job.ts';
import type { Queue } from '../../../../src/api/queue.ts';
import type { ScheduleDetail } from '../../../../src/api/schedule.ts';
import type { Stats } from '../../../../src/api/stats.ts';
import type { Worker } from '../../../../src/api/worker.ts';
import { countText, numberText } from '../../words/count.ts';
import { shortSpan } from '../../words/duration.ts';
import { visibleLine } from '../../words/visible-text.ts';
import { endedRuns, isFailing } from '../schedules/success-rate.tsx';

export interface Worry {
  tone: 'red' | 'amber';
  text: string;
  href: string;
}

export interface State {
  queues: readonly Queue[];
  workers: readonly Worker[];
  day: Stats | undefined;
  schedules: readonly ScheduleDetail[];
  failures: Failures | undefined;
  /** The oldest pending job of each queue that waits for long. */
  stuck: readonly Pick<Job, 'id' | 'queue' | 'requires' | 'handler'>[];
  now: number;
}

export const LATE_MS = 60_000;
export const VERY_LATE_MS = 5 * 60_000;
/** The share of failures from which they are a worry. */
const MANY = 0.05;

export function worriesOf(state: State): Worry[] {
  return [...workerWorries(state), ...queueWorries(state), ...scheduleWorries(state), ...failureWorries(state)].sort(
    (a, b) => Number(b.tone === 'red') - Number(a.tone === 'red'),
  );
}

function workerWorries({ workers, queues }: State): Worry[] {
  if (workers.some(({ state }) => state === 'online')) return [];
  const pending = queues.reduce((sum, queue) => sum + queue.pending, 0);
  const waiting = pending > 0 ? `, and ${countText(pending, 'job is', 'jobs are')} waiting` : '';
  const draining = workers.some(({ state }) => state === 'draining');
  return [{ tone: 'red', text: `No worker ${draining ? 'takes new jobs' : 'is online'}${waiting}`, href: '/workers' }];
}

function queueWorries({ queues, workers, stuck, now }: State): Worry[] {
  return queues.flatMap((queue): Worry[] => {
    const name = visibleLine(queue.name);
    const href = `/jobs?status=pending&queue=${encodeURIComponent(queue.name)}`;
    if (queue.paused && queue.pending > 0) {
      return [{ tone: 'amber', text: `${name}: paused, ${countText(queue.pending, 'job')} waiting`, href: '/queues' }];
    }
    const waited = queue.oldest_pending_at === null ? 0 : now - Date.parse(queue.oldest_pending_at);
    if (waited < LATE_MS || workers.every(({ state }) => state !== 'online')) return [];
    const why = reasonOf(
      stuck.find((job) => job.queue === queue.name),
      workers,
    );
    if (why === null && waited < VERY_LATE_MS) return [];
    const tone = why === null ? 'amber' : 'red';
    const jobs = countText(queue.pending, 'job has', 'jobs have');
    const span = `${jobs} waited ${queue.pending === 1 ? '' : 'up to '}${shortSpan(waited)}`;
    return [{ tone, text: `${name}: ${span}${why === null ? '' : `, ${why}`}`, href }];
  });
}

/** Why no worker that is online takes the job; `null` if one could. */
function reasonOf(job: State['stuck'][number] | undefined, workers: readonly Worker[]): string | null {
  if (job === undefined) return null;
  const online = workers.filter(({ state }) => state === 'online');
  const serving = online.filter(({ queues }) => queues === null || queues.includes(job.queue));
  if (serving.length === 0) return 'no worker serves this queue';
  const missing = job.requires.find((tag) => !serving.some(({ tags }) => tags.includes(tag)));
  if (missing !== undefined) return `no worker has tag ${visibleLine(missing)}`;
  const { handler } = job;
  if (handler !== null && !serving.some(({ handlers }) => handlers.includes(handler)))
    return `no worker has handler ${visibleLine(handler)}`;
  return null;
}

function scheduleWorries({ schedules, now }: State): Worry[] {
  const failing = schedules.filter((schedule) => schedule.paused_at === null && isFailing(schedule));
  const late = schedules.filter(({ next_run }) => next_run !== null && now - Date.parse(next_run) > LATE_MS);
  const one = (schedule: ScheduleDetail): Worry => {
    const { ended, failed } = endedRuns(schedule);
    const rate = ended === 1 ? 'its last run failed' : `${failed} of its last ${ended} runs failed`;
    return { tone: 'red', text: `Schedule ${schedule.name}: ${rate}`, href: `/schedules/${schedule.name}` };
  };
  const failingWorries: Worry[] =
    failing.length <= 3
      ? failing.map(one)
      : [{ tone: 'red', text: `${failing.length} schedules are failing`, href: '/schedules?filter=failing' }];
  return [
    ...failingWorries,
    ...late.slice(0, 3).map(({ name, next_run }): Worry => {
      const span = shortSpan(now - Date.parse(next_run ?? ''));
      return { tone: 'red', text: `Schedule ${name} is ${span} late`, href: `/schedules/${name}` };
    }),
  ];
}

function failureWorries({ day, failures }: State): Worry[] {
  const failed = day?.totals.failed ?? 0;
  const ended = failed + (day?.totals.done ?? 0);
  if (failed === 0) return [];
  const [worst] = failures?.items ?? [];
  const what = worst === undefined ? '' : `, most often ${visibleLine(worst.title)}`;
  return [
    {
      tone: failed >= ended * MANY ? 'red' : 'amber',
      text: `${numberText(failed)} of ${countText(ended, 'attempt')} failed in the last 24 h${what}`,
      href: '/jobs?status=failed&from=24h',
    },
  ];
}
