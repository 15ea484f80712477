import type { Failures } from '../api/failures.ts';
import { toInstant } from '../api/fields.ts';
import type { Job } from '../core/job.ts';

const MAX_TITLE_LENGTH = 200;

/** Groups failures by title and error, the most frequent first. `jobs` are the newest first. */
export function groupFailures(jobs: readonly Job[]): Failures['items'] {
  const groups = new Map<string, Failures['items'][number]>();
  for (const job of jobs) {
    const title = (job.name ?? job.stepKey ?? job.handler ?? job.command ?? '').trim().split('\n', 1)[0] ?? '';
    const error = firstLine(job.error ?? job.reason ?? 'failed');
    const at = toInstant(job.doneAt ?? job.createdAt);
    const key = JSON.stringify([title, error]);
    const group = groups.get(key);
    if (group === undefined) {
      const head = { title: title.slice(0, MAX_TITLE_LENGTH), name: job.name, error, count: 1, queues: [job.queue] };
      groups.set(key, { ...head, first_at: at, last_at: at, last_job_id: String(job.id) });
    } else {
      group.count += 1;
      if (at < group.first_at) group.first_at = at;
      if (at > group.last_at) group.last_at = at;
      if (!group.queues.includes(job.queue)) group.queues.push(job.queue);
    }
  }
  return [...groups.values()].sort((a, b) => b.count - a.count || (a.last_at < b.last_at ? 1 : -1));
}

/** Replaces long numbers and hexadecimal ids: they differ between occurrences of the same failure. */
function firstLine(error: string): string {
  const [head = '', second = ''] = error.split('\n').map((line) => line.trim());
  const line = /^exit \d+$/.test(head) && second !== '' ? `${head}: ${second}` : head;
  return line.replace(/\b[0-9a-f]{8,}(-[0-9a-f]{4,})*\b|\b\d{5,}\b/gi, '…').slice(0, MAX_TITLE_LENGTH);
}
