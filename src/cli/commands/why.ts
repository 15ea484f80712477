import type { Command } from 'commander';
import type { JobDetail } from '../../api/job.ts';
import { routes } from '../../api/routes.ts';
import { reasonText } from '../../api/words/reason.ts';
import { isTerminal } from '../../core/job.ts';
import { clientCommand, connect, jobId, outputOf, print, printData } from '../client-command.ts';
import { dependencyText } from '../output/job.ts';
import { oneLine } from '../output/style.ts';
import { between, moment, waitsFor, when } from '../output/when.ts';

/** `workron why ID`: prints in one sentence why the job waits, or how it ended. */
export function whyCommand(): Command {
  const command = clientCommand('why', 'Say why a job is waiting, or how it ended', { ids: false }).argument(
    '<id>',
    'Job id',
  );
  return command.action(async (text: string) => {
    const read = (id: string) => connect(command).json(routes.readJob, { params: { id } });
    const job = await read(jobId(text));
    const { json, quiet } = outputOf(command);
    if (json) return printData(job, json);
    if (quiet) return print(job.id);
    const root = job.reason === 'upstream_failed' ? await rootOf(job, read) : null;
    print(`${explain(job)}${root === null ? '' : `; ${rootText(root)}`}`);
  });
}

/** How many jobs above one are looked at. */
const MAX_ABOVE = 50;

/** The job that failed first of those that it depends on, over any number of skipped ones; `null` if it is not found. */
async function rootOf(job: JobDetail, read: (id: string) => Promise<JobDetail>): Promise<JobDetail | null> {
  const seen = new Set<string>();
  const above = job.depends_on.map((parent) => parent.job);
  while (above.length > 0 && seen.size < MAX_ABOVE) {
    const id = above.shift() as string;
    if (seen.has(id)) continue;
    seen.add(id);
    const parent = await read(id).catch(() => null);
    if (parent?.status === 'failed' || parent?.status === 'cancelled') return parent;
    if (parent?.status === 'skipped') above.push(...parent.depends_on.map((each) => each.job));
  }
  return null;
}

function rootText({ id, step, name, status, failure }: JobDetail): string {
  const title = step ?? name;
  const why = failure === null ? '' : `: ${oneLine(failure.line)}`;
  return `job ${id}${title === null ? '' : ` (${oneLine(title)})`} ${status}${why}`;
}

function explain(job: JobDetail): string {
  if (job.status === 'running') {
    const stopping = job.cancel_requested_at === null ? '' : '; it was asked to stop';
    return `job ${job.id} has been running on worker ${job.worker_id} for ${between(job.started_at, null)} (attempt ${job.attempts})${stopping}`;
  }
  if (job.status === 'scheduled' && job.failures + job.snoozes + job.interruptions === 0)
    return `job ${job.id} is scheduled for ${moment(job.run_at)}`;
  if (!isTerminal(job.status))
    return `job ${job.id} is ${job.status}: ${job.waiting === null ? 'it is about to start' : `it waits for ${waitsFor(job.waiting)}`}`;
  if (job.status === 'done')
    return `job ${job.id} is done: it ended ${when(job.done_at)} and took ${between(job.started_at, job.done_at)}`;
  // One that a limit or its gang has ended says so by its error.
  if (job.status === 'skipped')
    return `job ${job.id} was skipped: ${job.failure === null ? skippedFor(job) : oneLine(job.failure.line)}`;
  const error = job.failure === null ? '' : `: ${oneLine(job.failure.line)}`;
  if (job.reason === 'timeout') return `job ${job.id} failed${error} (raise it with --timeout)`;
  return job.status === 'failed' ? `job ${job.id} failed${error}` : `job ${job.id} was ${job.status}${error}`;
}

/** `an upstream job failed; it runs after 8`. */
function skippedFor({ reason, depends_on: parents }: JobDetail): string {
  const why = reason === null ? 'for no known reason' : reasonText(reason);
  return parents.length === 0 ? why : `${why}; it runs after ${parents.map(dependencyText).join(', ')}`;
}
