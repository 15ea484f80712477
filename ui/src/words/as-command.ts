/** A job as a command for a terminal. */

import type { JobSubmissionInput } from '../../../src/api/job-submission.ts';
import { routes } from '../../../src/api/routes.ts';

/** Quotes a word for a shell. */
export function shellQuote(text: string): string {
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

export function asCurl(job: JobSubmissionInput, url: string): string {
  return `curl -d ${shellQuote(JSON.stringify(job))} ${url}${routes.submitJobs.path}`;
}

const FLAGS = [
  ['name', '--name'],
  ['queue', '--queue'],
  ['priority', '--priority'],
  ['delay', '--delay'],
  ['run_at', '--at'],
  ['timeout', '--timeout'],
  ['max_attempts', '--max-attempts'],
  ['cwd', '--cwd'],
] as const;

/** Returns `null` for a handler: the command line submits commands only. */
export function asCli(job: JobSubmissionInput): string | null {
  if (job.command === undefined) return null;
  const words = ['workron', 'submit'];
  for (const [key, flag] of FLAGS) {
    const value = job[key];
    if (value !== undefined)
      words.push(flag, shellQuote(typeof value === 'number' && key === 'timeout' ? `${value}ms` : String(value)));
  }
  if (job.tags !== undefined && job.tags.length > 0) words.push('--tag', shellQuote(job.tags.join(',')));
  return [...words, '--', shellQuote(job.command)].join(' ');
}
