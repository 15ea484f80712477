import type { JobDetail } from '../../api/job.ts';
import { isEnded } from './ended.ts';
import { dependencyText } from './job.ts';
import { oneLine } from './style.ts';
import { between, when } from './when.ts';

/** One sentence on why a job is where it is. */
export function explain(job: JobDetail): string {
  if (job.status === 'running') {
    const stopping = job.cancel_requested_at === null ? '' : '; it was asked to stop';
    return `job ${job.id} is running on worker ${job.worker_id} for ${between(job.started_at, null)} (attempt ${job.attempts})${stopping}`;
  }
  if (!isEnded(job)) return `job ${job.id} is ${job.status}: ${job.waiting_for ?? 'about to start'}`;
  if (job.status === 'done')
    return `job ${job.id} is done since ${when(job.done_at)}, after ${between(job.started_at, job.done_at)}`;
  if (job.status === 'skipped')
    return `job ${job.id} is skipped (${job.reason}): it was to run after ${job.depends_on.map(dependencyText).join(', ')}`;
  const error = job.error === null ? '' : `: ${oneLine(job.error.split('\n')[0] ?? '')}`;
  return `job ${job.id} is ${job.status} (${job.reason})${error}`;
}
