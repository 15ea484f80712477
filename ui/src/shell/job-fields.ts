/** Converts between a job and the fields of its form. */

import type { JobSubmissionInput } from '../../../src/api/job-submission.ts';

export interface JobFields {
  kind: 'command' | 'handler';
  command: string;
  handler: string;
  input: string;
  name: string;
  queue: string;
  priority: string;
  delay: string;
  timeout: string;
  maxAttempts: string;
  tags: string;
}

export function fieldsFrom(job: JobSubmissionInput): JobFields {
  return {
    kind: job.handler === undefined ? 'command' : 'handler',
    command: job.command ?? '',
    handler: job.handler ?? '',
    input: job.input === undefined ? '' : JSON.stringify(job.input, null, 2),
    name: job.name ?? '',
    queue: job.queue ?? '',
    priority: job.priority === undefined ? '' : String(job.priority),
    delay: '',
    timeout: job.timeout === undefined ? '' : String(job.timeout),
    maxAttempts: job.max_attempts === undefined ? '' : String(job.max_attempts),
    tags: (job.tags ?? []).join(', '),
  };
}

/** Returns the job of the fields, with everything else taken from `start`; or the problem if a field is invalid. */
export function submissionFrom(
  fields: JobFields,
  start: JobSubmissionInput,
): { job: JobSubmissionInput } | { problem: string } {
  const { command: _command, handler: _handler, input: _input, ...rest } = start;
  const job: JobSubmissionInput = { ...rest };
  if (fields.kind === 'command') {
    if (fields.command.trim() === '') return { problem: 'A command is needed, such as: echo hello' };
    job.command = fields.command;
  } else {
    if (fields.handler.trim() === '') return { problem: 'The name of a handler is needed' };
    job.handler = fields.handler.trim();
    if (fields.input.trim() !== '') {
      try {
        job.input = JSON.parse(fields.input);
      } catch (error) {
        return { problem: `The input is not JSON: ${(error as Error).message}` };
      }
    }
  }
  const put = <K extends keyof JobSubmissionInput>(key: K, value: JobSubmissionInput[K] | undefined): void => {
    if (value === undefined) delete job[key];
    else job[key] = value;
  };
  put('name', textOr(fields.name));
  put('queue', textOr(fields.queue));
  const tags = fields.tags
    .split(',')
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '');
  put('tags', tags.length === 0 ? undefined : tags);
  for (const [key, text] of [
    ['priority', fields.priority],
    ['max_attempts', fields.maxAttempts],
  ] as const) {
    if (text.trim() !== '' && !/^-?\d+$/.test(text.trim())) return { problem: `${key}: expected a whole number` };
    put(key, text.trim() === '' ? undefined : Number(text));
  }
  const timeout = textOr(fields.timeout);
  put('timeout', timeout !== undefined && /^\d+$/.test(timeout) ? Number(timeout) : timeout);
  const due = textOr(fields.delay)
    ?.replace(/^in\s+/i, '')
    .replaceAll(/\s+/g, '');
  if (due !== undefined) put(/^\d{4}-/.test(due) ? 'run_at' : 'delay', due);
  return { job };
}

function textOr(text: string): string | undefined {
  return text.trim() === '' ? undefined : text.trim();
}
