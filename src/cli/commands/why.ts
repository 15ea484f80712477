import type { Command } from 'commander';
import type { JobDetail } from '../../api/job.ts';
import { routes } from '../../api/routes.ts';
import { isTerminal } from '../../core/job.ts';
import { clientCommand, connect, jobId, outputOf, print, printData } from '../client-command.ts';
import { gist } from '../output/gist.ts';
import { dependencyText } from '../output/job.ts';
import { reasonText } from '../output/reason.ts';
import { between, moment, when, withMoments } from '../output/when.ts';

/** `workron why ID`: prints in one sentence why the job waits, or how it ended. */
export function whyCommand(): Command {
  const command = clientCommand('why', 'Say why a job is waiting, or how it ended', { ids: false }).argument(
    '<id>',
    'Job id',
  );
  return command.action(async (text: string) => {
    const job = await connect(command).json(routes.readJob, { params: { id: jobId(text) } });
    const { json, quiet } = outputOf(command);
    if (json) printData(job, json);
    else print(quiet ? job.id : explain(job));
  });
}

function explain(job: JobDetail): string {
  if (job.status === 'running') {
    const stopping = job.cancel_requested_at === null ? '' : '; it was asked to stop';
    return `job ${job.id} has been running on worker ${job.worker_id} for ${between(job.started_at, null)} (attempt ${job.attempts})${stopping}`;
  }
  if (job.status === 'scheduled' && job.failures + job.snoozes + job.interruptions === 0)
    return `job ${job.id} is scheduled for ${moment(job.run_at)}`;
  if (!isTerminal(job.status))
    return `job ${job.id} is ${job.status}: ${job.waiting_for === null ? 'it is about to start' : `it waits for ${withMoments(job.waiting_for)}`}`;
  if (job.status === 'done')
    return `job ${job.id} is done: it ended ${when(job.done_at)} and took ${between(job.started_at, job.done_at)}`;
  // One that a limit or its gang has ended says so by its error.
  if (job.status === 'skipped')
    return `job ${job.id} was skipped: ${job.error === null ? skippedFor(job) : gist(job.error)}`;
  const error = job.error === null ? '' : `: ${gist(job.error)}`;
  if (job.reason === 'timeout') return `job ${job.id} failed${error} (raise it with --timeout)`;
  return job.status === 'failed' ? `job ${job.id} failed${error}` : `job ${job.id} was ${job.status}${error}`;
}

/** `an upstream job failed; it runs after 8`. */
function skippedFor({ reason, depends_on: parents }: JobDetail): string {
  const why = reasonText(reason ?? '');
  return parents.length === 0 ? why : `${why}; it runs after ${parents.map(dependencyText).join(', ')}`;
}
