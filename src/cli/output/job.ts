/** All details of a job as text. */

import { byteText } from '../../api/byte-text.ts';
import type { Attempt, JobDetail } from '../../api/job.ts';
import { formatDuration } from '../../core/duration.ts';
import { isTerminal } from '../../core/job.ts';
import { jsonText } from './json-text.ts';
import { bold, dim, harmless, oneLine, stateFormat, stateText, styled } from './style.ts';
import { type Column, renderTable } from './table.ts';
import { between, waitsFor, when } from './when.ts';

const ATTEMPT_COLUMNS: readonly Column<Attempt>[] = [
  { title: 'ATTEMPT', text: (attempt) => String(attempt.attempt), align: 'right' },
  { title: 'OUTCOME', text: (attempt) => attempt.outcome },
  { title: 'EXIT', text: (attempt) => attempt.signal ?? String(attempt.exit_code ?? '–') },
  { title: 'TIME', text: (attempt) => between(attempt.started_at, attempt.ended_at) },
  { title: 'CPU', text: ({ usage }) => (usage === null ? '–' : formatDuration(usage.cpu_ms)) },
  { title: 'MEMORY', text: ({ usage }) => (usage?.max_rss_bytes == null ? '–' : byteText(usage.max_rss_bytes)) },
  { title: 'STARTED', text: (attempt) => when(attempt.started_at) },
  { title: 'WORKER', text: (attempt) => attempt.worker_id ?? '–' },
];

const LABEL_WIDTH = 16;

export function describeJob(job: JobDetail, attempts: readonly Attempt[]): string {
  const lines = [`${bold(`job ${job.id}`)}  ${styled(stateFormat(job.status), stateText(job.status))}`];
  const line = (label: string, value: string | null | undefined): void => {
    if (value !== null && value !== undefined && value !== '') lines.push(`${dim(label.padEnd(LABEL_WIDTH))}${value}`);
  };
  line('name', job.name === null ? null : oneLine(job.name));
  line('command', job.command === null ? null : indent(job.command));
  line('handler', job.handler === null ? null : oneLine(job.handler));
  line('input', job.seal_input ? 'sealed' : null);
  line('queue', `${oneLine(job.queue)}, priority ${job.priority}`);
  line('tags', oneLine(job.tags.join(', ')));
  line('requires', oneLine(job.requires.join(', ')));
  line('workflow', job.workflow_id === null ? null : `${job.workflow_id}, step ${job.step}${itemText(job)}`);
  line('rerun of', job.rerun_of);
  line('after', job.depends_on.map(dependencyText).join(', '));
  line('waits for', job.waiting === null ? null : oneLine(waitsFor(job.waiting)));
  line('progress', job.progress === null ? null : progressText(job.progress));
  line('reason', job.reason);
  line('attempts', `${job.failures} of ${job.max_attempts} failed`);
  line('timeout', formatDuration(job.timeout));
  line('created', `${when(job.created_at)}${job.submitted_by === null ? '' : ` by ${oneLine(job.submitted_by)}`}`);
  line('due', job.status === 'scheduled' ? when(job.run_at) : null);
  line('started', job.started_at === null ? null : when(job.started_at));
  line(
    'ended',
    job.done_at === null
      ? null
      : `${when(job.done_at)}, after ${between(job.started_at ?? job.created_at, job.done_at)}`,
  );
  line('worker', job.worker_id);
  line(
    'stopping',
    job.cancel_requested_at === null || job.done_at !== null ? null : `asked ${when(job.cancel_requested_at)}`,
  );
  line('notify', job.notify.map(notifyText).join(', '));
  line('notified', job.notifications.map(deliveryText).join(', '));
  line('notifies about', job.notifies === null ? null : subjectText(job.notifies));
  line('checkpoint', job.checkpoint === null ? null : checkpointText(job.checkpoint));
  line('result', job.result === null ? null : indent(jsonText(job.result)));
  line('error', job.error === null ? null : indent(job.error));
  const table = attempts.length === 0 ? '' : `\n${renderTable(ATTEMPT_COLUMNS, attempts)}`;
  return `${lines.join('\n')}\n${table}`;
}

function checkpointText({ bytes, attempt, written_at }: NonNullable<JobDetail['checkpoint']>): string {
  return `${byteText(bytes)}, attempt ${attempt}, ${when(written_at)}`;
}

/** `failed, late → https://example.com/hook`. */
export function notifyText({ on, webhook, command }: JobDetail['notify'][number]): string {
  return oneLine(`${on.join(', ')} → ${webhook ?? command ?? ''}`);
}

function subjectText({ event, job_id, workflow_id, schedule }: NonNullable<JobDetail['notifies']>): string {
  if (workflow_id !== null) return `${event}: workflow ${workflow_id}`;
  return job_id === null ? `${event}: schedule ${schedule}` : `${event}: job ${job_id}`;
}

function itemText({ group_id, index }: JobDetail): string {
  return group_id === null ? '' : `, item ${index} of job ${group_id}`;
}

/** `12`, `13 (failure)`. */
export function dependencyText({ job, if: condition }: JobDetail['depends_on'][number]): string {
  return condition === 'success' ? job : `${job} (${condition})`;
}

function indent(text: string): string {
  return harmless(text)
    .split('\n')
    .join(`\n${' '.repeat(LABEL_WIDTH)}`);
}

/** `failed (job 4)`, or that nobody got it. */
function deliveryText({ event, job_id, status }: JobDetail['notifications'][number]): string {
  if (status === 'done') return `${event} (job ${job_id})`;
  return `${event} (job ${job_id}, ${isTerminal(status) ? `not delivered: workron why ${job_id}` : status})`;
}

const CELLS = 8;

interface Reported {
  fraction: number;
  text: string | null;
}

/** `▓▓▓░░░░░ 37% step 22 of 60`; in a pipe without the bar. */
export function progressText({ fraction, text }: Reported): string {
  const full = Math.round(fraction * CELLS);
  const bar = process.stdout.isTTY ? `${'▓'.repeat(full)}${'░'.repeat(CELLS - full)} ` : '';
  const words = text === null ? '' : oneLine(text);
  return `${bar}${Math.floor(fraction * 100)}%${words === '' ? '' : ` ${words}`}`;
}
