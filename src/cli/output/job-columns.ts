import type { Job } from '../../api/job.ts';
import { isEnded } from './ended.ts';
import { oneLine, stateFormat, stateText } from './style.ts';
import type { Column } from './table.ts';
import { between, when } from './when.ts';

/** How a list shows a job. */
export const JOB_COLUMNS: readonly Column<Job>[] = [
  { title: 'ID', text: (job) => job.id, align: 'right' },
  { title: 'STATUS', text: (job) => stateText(job.status), format: (job) => stateFormat(job.status) },
  { title: 'JOB', text: titleOf, flexible: true },
  { title: 'QUEUE', text: (job) => oneLine(job.queue), flexible: true },
  { title: 'PRIO', text: (job) => String(job.priority), align: 'right' },
  { title: 'TRY', text: (job) => String(job.attempts), align: 'right' },
  {
    title: 'TIME',
    text: (job) => (job.status === 'running' || isEnded(job) ? between(job.started_at, job.done_at) : '–'),
  },
  { title: 'CREATED', text: (job) => when(job.created_at) },
  { title: 'NOTE', text: noteOf, flexible: true },
];

export function titleOf(job: Pick<Job, 'name' | 'command' | 'handler' | 'step' | 'index'>): string {
  return oneLine(job.name ?? stepOf(job) ?? job.command ?? job.handler ?? '');
}

/** `count`, or `count[3]` for an item. */
function stepOf({ step, index }: Pick<Job, 'step' | 'index'>): string | null {
  return step === null || index === null ? step : `${step}[${index}]`;
}

function noteOf(job: Job): string {
  if (job.status === 'running') return job.cancel_requested_at === null ? '' : 'being stopped';
  if (job.status === 'scheduled') return `due ${when(job.run_at)}`;
  if (job.status === 'failed' && job.error !== null) return oneLine(job.error.split('\n')[0] ?? '');
  return isEnded(job) ? (job.reason ?? '') : '';
}
