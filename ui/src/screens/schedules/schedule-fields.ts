/** Converts between a schedule and the fields of its form. */

import type { Schedule, ScheduleEditInput, ScheduleSubmissionInput } from '../../../../src/api/schedule.ts';
import { NO_WORKFLOW, type WorkflowText } from '../../shell/workflow-field.tsx';
import { shellQuote, workron } from '../../words/as-command.ts';
import { exactDuration } from '../../words/duration.ts';

export type Target = 'command' | 'handler' | 'workflow';

export interface Fields {
  kind: 'cron' | 'every';
  text: string;
  timezone: string;
  overlap: Schedule['overlap'];
  catchup: Schedule['catchup']['policy'];
  target: Target;
  command: string;
  handler: string;
  input: string;
  queue: string;
  workflow: WorkflowText;
  keys: string;
}

type Job = NonNullable<ScheduleSubmissionInput['job']>;

export function fieldsFrom(existing: Schedule | undefined): Fields {
  const job = existing?.job;
  return {
    kind: existing?.every == null ? 'cron' : 'every',
    text: existing?.cron ?? (existing?.every == null ? '0 9 * * MON-FRI' : exactDuration(existing.every)),
    timezone: existing?.timezone ?? Intl.DateTimeFormat().resolvedOptions().timeZone,
    overlap: existing?.overlap ?? 'skip',
    catchup: existing?.catchup.policy ?? 'latest',
    target: existing?.workflow != null ? 'workflow' : job?.handler != null ? 'handler' : 'command',
    command: job?.command ?? '',
    handler: job?.handler ?? '',
    input: job?.handler != null && job.input != null ? JSON.stringify(job.input, null, 2) : '',
    queue: job?.queue ?? '',
    workflow: NO_WORKFLOW,
    keys: (existing?.for_each ?? []).join('\n'),
  };
}

/** Returns the schedule of the fields. Throws an error for the user if a field is invalid. */
export async function submissionFrom(name: string, fields: Fields): Promise<ScheduleSubmissionInput> {
  const { overlap, catchup } = fields;
  const keys = keysOf(fields);
  return {
    name,
    ...whenOf(fields),
    overlap,
    catchup: { policy: catchup },
    ...(keys.length === 0 ? {} : { for_each: keys }),
    ...(fields.target === 'workflow' ? await workflowOf(fields) : { job: jobOf(fields) }),
  };
}

/** Returns an edit of the form's fields that keeps everything else. Throws as `submissionFrom` does. */
export async function editFrom(existing: Schedule, fields: Fields): Promise<ScheduleEditInput> {
  const keys = keysOf(fields);
  const sameKeys = JSON.stringify(keys) === JSON.stringify(existing.for_each ?? []);
  return {
    ...whenOf(fields),
    overlap: fields.overlap,
    catchup: { ...existing.catchup, policy: fields.catchup },
    ...(sameKeys ? {} : { for_each: keys.length === 0 ? null : keys }),
    ...(await targetEdit(existing, fields)),
  };
}

const JOB_FIELDS = ['target', 'command', 'handler', 'input', 'queue'] as const;

async function targetEdit(existing: Schedule, fields: Fields): Promise<Pick<ScheduleEditInput, 'job' | 'workflow'>> {
  const { job } = existing;
  if (fields.target === 'workflow') {
    // A workflow cannot be read back as a whole: an empty field keeps it.
    return job === null && fields.workflow.text.trim() === '' ? {} : workflowOf(fields);
  }
  const before = fieldsFrom(existing);
  if (JOB_FIELDS.every((field) => fields[field] === before[field])) return {};
  // An empty field is the default. The server keeps what the form does not show.
  const cleared = { ...(fields.queue.trim() === '' && { queue: null }) };
  const input = fields.target === 'handler' && fields.input.trim() === '' ? { input: null } : {};
  return { job: { ...jobOf(fields), ...cleared, ...input } };
}

function jobOf({ target, command, handler, input, queue }: Fields): Job {
  const job = queue.trim() === '' ? {} : { queue: queue.trim() };
  if (target === 'command') return { ...job, command };
  if (handler.trim() === '') throw new Error('The name of a handler is needed');
  return { ...job, handler: handler.trim(), ...(input.trim() === '' ? {} : { input: jsonOf(input) }) };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`The input is not JSON: ${(error as Error).message}`, { cause: error });
  }
}

async function workflowOf({ workflow: { text, params } }: Fields) {
  if (text.trim() === '') throw new Error('A workflow is needed: type, paste or choose one');
  const { workflowFrom } = await import('../../data/workflow-text.ts');
  return { workflow: workflowFrom(text, params) };
}

function keysOf({ keys }: Fields): string[] {
  return [
    ...new Set(
      keys
        .split(/[\n,]/)
        .map((key) => key.trim())
        .filter((key) => key !== ''),
    ),
  ];
}

function whenOf({ kind, text, timezone }: Fields) {
  return { ...(kind === 'cron' ? { cron: text.trim() } : { every: text.trim() }), timezone: timezone.trim() || 'UTC' };
}

/** The command that creates or edits it; `null` for what has no short form: handlers and workflows. */
export function cliOf(name: string, fields: Fields, exists: boolean): string | null {
  if (fields.target !== 'command') return null;
  const words = [
    `schedule ${exists ? 'edit' : 'add'} ${shellQuote(name === '' ? 'NAME' : name)}`,
    `--${fields.kind} ${shellQuote(fields.text.trim())}`,
    `--timezone ${shellQuote(fields.timezone.trim() || 'UTC')}`,
    ...(fields.overlap === 'skip' ? [] : [`--overlap ${fields.overlap}`]),
    ...(fields.catchup === 'latest' ? [] : [`--catchup ${fields.catchup}`]),
    ...(fields.queue.trim() === '' ? [] : [`--queue ${shellQuote(fields.queue.trim())}`]),
    ...(keysOf(fields).length === 0 ? [] : [`--for-each ${shellQuote(keysOf(fields).join(','))}`]),
  ];
  return workron(words.join(' '), `-- ${shellQuote(fields.command)}`);
}
