/** Recent failures, grouped by title and error. */

import { z } from 'zod';
import { failureLine } from '../core/failure-line.ts';
import type { Job } from '../core/job.ts';
import { instantOrAgo, toInstant, wireId, wireInstant } from './fields.ts';
import { named, strict } from './schemas.ts';

export const FailuresQuery = strict({ from: instantOrAgo.exactOptional() });

export const Failures = named(
  'Failures',
  z.object({
    from: wireInstant,
    scanned: z.number().meta({ description: 'The number of failed jobs that were examined, newest first.' }),
    complete: z.boolean().meta({ description: 'True if those are all failures since `from`.' }),
    items: z.array(
      z.object({
        title: z.string().meta({ description: 'The name of the job, or its step, handler or command.' }),
        name: z.string().nullable(),
        error: z.string().meta({
          description: 'The line that tells what went wrong, without ids, numbers and addresses that differ each time.',
        }),
        count: z.number(),
        queues: z.array(z.string()),
        first_at: wireInstant,
        last_at: wireInstant,
        last_job_id: wireId,
        job_ids: z
          .array(wireId)
          .meta({ description: 'The newest of these jobs, at most 200: a bulk retry takes them.' }),
        trend: z.array(z.number()).meta({ description: 'How many failed in each of 24 equal parts of the range.' }),
      }),
    ),
  }),
);
export type Failures = z.output<typeof Failures>;

const MAX_TITLE_LENGTH = 200;

const MAX_IDS = 200;
const TREND_PARTS = 24;

/** Groups failures by title and error, the most frequent first. `jobs` are the newest first. */
export function groupFailures(jobs: readonly Job[], range: { from: number; to: number }): Failures['items'] {
  const groups = new Map<string, Failures['items'][number]>();
  for (const job of jobs) {
    const title = (job.name ?? job.stepKey ?? job.handler ?? job.command ?? '').trim().split('\n', 1)[0] ?? '';
    const error = sameLine(job.error ?? job.reason ?? 'failed');
    const at = toInstant(job.doneAt ?? job.createdAt);
    const key = JSON.stringify([title, error]);
    const group = groups.get(key);
    if (group === undefined) {
      const head = { title: title.slice(0, MAX_TITLE_LENGTH), name: job.name, error, count: 1, queues: [job.queue] };
      const trend = Array.from({ length: TREND_PARTS }, () => 0);
      const made = {
        ...head,
        first_at: at,
        last_at: at,
        last_job_id: String(job.id),
        job_ids: [String(job.id)],
        trend,
      };
      trend[partOf(job, range)] = 1;
      groups.set(key, made);
    } else {
      group.count += 1;
      if (group.job_ids.length < MAX_IDS) group.job_ids.push(String(job.id));
      const part = partOf(job, range);
      group.trend[part] = (group.trend[part] ?? 0) + 1;
      if (at < group.first_at) group.first_at = at;
      if (at > group.last_at) group.last_at = at;
      if (!group.queues.includes(job.queue)) group.queues.push(job.queue);
    }
  }
  return [...groups.values()].sort((a, b) => b.count - a.count || (a.last_at < b.last_at ? 1 : -1));
}

/** The part of the range in which the job ended. */
function partOf({ doneAt, createdAt }: Job, { from, to }: { from: number; to: number }): number {
  const share = ((doneAt ?? createdAt) - from) / Math.max(1, to - from);
  return Math.max(0, Math.min(TREND_PARTS - 1, Math.floor(share * TREND_PARTS)));
}

/** Long numbers, hexadecimal ids and addresses differ between occurrences of the same failure. */
const VARIES = /\b[0-9a-f]{8,}(-[0-9a-f]{4,})*\b|\b\d{5,}\b|\b\d{1,3}(\.\d{1,3}){3}\b/gi;

function sameLine(error: string): string {
  return failureLine(error).replace(VARIES, '…').slice(0, MAX_TITLE_LENGTH);
}
