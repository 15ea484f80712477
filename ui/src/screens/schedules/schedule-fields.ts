/** Converts between a schedule and the fields of its form. */

import type { Schedule, ScheduleEditInput, ScheduleSubmissionInput } from '../../../../src/api/schedule.ts';
import type { Definition } from '../../../../src/api/workflow/stored.ts';
import { LATEST } from '../../data/definitions.ts';
import { type ParamValues, paramFlags, paramText } from '../../parts/param-fields.tsx';
import { NO_WORKFLOW, type WorkflowText } from '../../shell/workflow-field.tsx';
import { shellQuote, workron } from '../../words/as-command.ts';
import { exactDuration } from '../../words/duration.ts';

export type Target = 'command' | 'handler' | 'workflow' | 'stored';

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
  /** A stored workflow; its version is a number or the latest. */
  stored: { name: string; version: string; params: ParamValues };
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
    target: targetOf(existing),
    command: job?.command ?? '',
    handler: job?.handler ?? '',
    input: job?.handler != null && job.input != null ? JSON.stringify(job.input, null, 2) : '',
    queue: job?.queue ?? '',
    workflow: NO_WORKFLOW,
    stored: storedFrom(existing?.definition ?? null),
    keys: (existing?.for_each ?? []).join('\n'),
  };
}

function targetOf(existing: Schedule | undefined): Target {
  if (existing?.definition != null) return 'stored';
  if (existing?.workflow != null) return 'workflow';
  return existing?.job?.handler != null ? 'handler' : 'command';
}

function storedFrom(definition: Schedule['definition']): Fields['stored'] {
  if (definition === null) return { name: '', version: LATEST, params: {} };
  const { name, version, latest, params } = definition;
  const values = Object.entries(params).map(([param, value]) => [param, paramText(value)]);
  return { name, version: latest ? LATEST : String(version), params: Object.fromEntries(values) };
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
    ...(await targetFrom(fields)),
  };
}

async function targetFrom(fields: Fields): Promise<Pick<ScheduleSubmissionInput, 'job' | 'workflow' | 'definition'>> {
  if (fields.target === 'workflow') return workflowOf(fields);
  return fields.target === 'stored' ? definitionOf(fields) : { job: jobOf(fields) };
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

type TargetEdit = Pick<ScheduleEditInput, 'job' | 'workflow' | 'definition'>;

async function targetEdit(existing: Schedule, fields: Fields): Promise<TargetEdit> {
  const before = fieldsFrom(existing);
  if (fields.target === 'stored') return isSame(before, fields) ? {} : definitionOf(fields);
  if (fields.target === 'workflow') {
    // A workflow cannot be read back as a whole: an empty field keeps it.
    return before.target === 'workflow' && fields.workflow.text.trim() === '' ? {} : workflowOf(fields);
  }
  if (JOB_FIELDS.every((field) => fields[field] === before[field])) return {};
  // An empty field is the default. The server keeps what the form does not show.
  const cleared = { ...(fields.queue.trim() === '' && { queue: null }) };
  // A sealed input cannot be read back: an empty field keeps it.
  const isCleared = fields.target === 'handler' && fields.input.trim() === '' && !keepsSealed(existing);
  const input = isCleared ? { input: null } : {};
  return { job: { ...jobOf(fields), ...cleared, ...input } };
}

/** Whether an empty field keeps the input that the schedule has. */
export function keepsSealed(existing: Schedule | undefined): boolean {
  return existing?.job?.handler != null && existing.job.seal_input;
}

/** Whether both run the same stored workflow with the same values. */
function isSame(a: Fields, b: Fields): boolean {
  const names = [...Object.keys(a.stored.params), ...Object.keys(b.stored.params)];
  return (
    a.target === b.target &&
    a.stored.name === b.stored.name &&
    a.stored.version === b.stored.version &&
    names.every((name) => a.stored.params[name] === b.stored.params[name])
  );
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

function definitionOf({ stored: { name, version, params } }: Fields) {
  return { definition: { name, version: version === LATEST ? LATEST : Number(version), params } } as const;
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

/** The command that creates or edits it; `null` for what has no short form: handlers and workflow files. */
export function cliOf(name: string, fields: Fields, exists: boolean, params: Definition['params']): string | null {
  const { target, stored } = fields;
  if (target === 'handler' || target === 'workflow') return null;
  const words = [
    `schedule ${exists ? 'edit' : 'add'} ${shellQuote(name === '' ? 'NAME' : name)}`,
    `--${fields.kind} ${shellQuote(fields.text.trim())}`,
    `--timezone ${shellQuote(fields.timezone.trim() || 'UTC')}`,
    ...(fields.overlap === 'skip' ? [] : [`--overlap ${fields.overlap}`]),
    ...(fields.catchup === 'latest' ? [] : [`--catchup ${fields.catchup}`]),
    ...(target === 'stored' || fields.queue.trim() === '' ? [] : [`--queue ${shellQuote(fields.queue.trim())}`]),
    ...(keysOf(fields).length === 0 ? [] : [`--for-each ${shellQuote(keysOf(fields).join(','))}`]),
  ];
  if (target === 'stored') {
    const named = stored.version === LATEST ? stored.name : `${stored.name}@${stored.version}`;
    return workron([...words, `--workflow ${named || 'WORKFLOW'}`, ...paramFlags(params, stored.params)].join(' '));
  }
  return workron(words.join(' '), `-- ${shellQuote(fields.command)}`);
}
