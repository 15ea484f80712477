/** Lines for a terminal. Each names the server of this page unless it is the one that the command line talks to anyway. */

import type { JobSubmissionInput } from '../../../src/api/job-submission.ts';
import { routes } from '../../../src/api/routes.ts';
import { API_URL } from '../data/place.ts';

const DEFAULT_URLS = ['http://127.0.0.1:8080', 'http://localhost:8080'];

/** Quotes a word for a shell. */
export function shellQuote(text: string): string {
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** `workron ARGS`, with `--url` if it is needed; `rest` goes to the end, after it. */
export function workron(args: string, rest = ''): string {
  const url = DEFAULT_URLS.includes(API_URL) ? '' : ` --url ${shellQuote(API_URL)}`;
  return `workron ${args}${url}${rest === '' ? '' : ` ${rest}`}`;
}

/** The header comes from the command line: a page never shows a token. */
export function asCurl(job: JobSubmissionInput): string {
  return `curl -H "$(${workron('auth header')})" -d ${shellQuote(JSON.stringify(job))} ${API_URL}${routes.submitJobs.path}`;
}

const FLAGS = [
  ['name', '--name'],
  ['queue', '--queue'],
  ['priority', '--priority'],
  ['delay', '--delay'],
  ['run_at', '--run-at'],
  ['timeout', '--timeout'],
  ['max_attempts', '--max-attempts'],
  ['cwd', '--cwd'],
] as const;

const KNOWN: readonly string[] = ['command', 'seal_input', 'tags', ...FLAGS.map(([key]) => key)];

/** With flags if they say all of it, else with the job as JSON. */
export function asCli(job: JobSubmissionInput): string {
  if (job.command === undefined || Object.keys(job).some((key) => !KNOWN.includes(key)))
    return `printf %s ${shellQuote(JSON.stringify(job))} | ${workron('submit --file -')}`;
  const words = ['submit'];
  for (const [key, flag] of FLAGS) {
    const value = job[key];
    if (value !== undefined)
      words.push(flag, shellQuote(typeof value === 'number' && key === 'timeout' ? `${value}ms` : String(value)));
  }
  if (job.seal_input) words.push('--seal-input');
  if (job.tags !== undefined && job.tags.length > 0) words.push('--tag', shellQuote(job.tags.join(',')));
  return workron(words.join(' '), `-- ${shellQuote(job.command)}`);
}

/** A workflow that needs no file. */
export const SAMPLE_WORKFLOW = `echo '{"name": "hello", "steps": {"build": {"command": "echo built"}, "test": {"command": "echo tested", "depends_on": ["build"]}}}' | ${workron('workflow run - --follow')}`;
