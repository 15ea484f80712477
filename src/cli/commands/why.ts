import type { Command } from 'commander';
import type { JobDetail } from '../../api/job.ts';
import { routes } from '../../api/routes.ts';
import { isTerminal } from '../../core/job.ts';
import { clientCommand, connect, jobId, outputOf, print, printData } from '../client-command.ts';
import { gist } from '../output/gist.ts';
import { dependencyText } from '../output/job.ts';
import { between, plain, when } from '../output/when.ts';

/** `workron why ID`: prints in one sentence why the job waits, or how it ended. */
export function whyCommand(): Command {
  const command = clientCommand('why', 'Say why a job waits, or how it ended', { ids: false }).argument(
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
    return `job ${job.id} is running on worker ${job.worker_id} for ${between(job.started_at, null)} (attempt ${job.attempts})${stopping}`;
  }
  if (job.status === 'scheduled' && job.failures + job.snoozes + job.interruptions === 0) {
    const due = process.stdout.isTTY ? ` (${when(job.run_at)})` : '';
    return `job ${job.id} is scheduled for ${plain(job.run_at)}${due}`;
  }
  if (!isTerminal(job.status)) return `job ${job.id} is ${job.status}: ${job.waiting_for ?? 'about to start'}`;
  if (job.status === 'done')
    return `job ${job.id} is done since ${when(job.done_at)}, after ${between(job.started_at, job.done_at)}`;
  // One that a limit or its gang has ended says so by its error.
  if (job.status === 'skipped' && job.error === null)
    return `job ${job.id} is skipped (${job.reason}): it was to run after ${job.depends_on.map(dependencyText).join(', ')}`;
  if (job.status === 'failed' && job.error !== null) return `job ${job.id} failed: ${gist(job.error)}${adviceFor(job)}`;
  return `job ${job.id} is ${job.status} (${job.reason})${job.error === null ? '' : `: ${gist(job.error)}`}`;
}

function adviceFor({ reason }: JobDetail): string {
  return reason === 'timeout' ? ' (raise it with --timeout)' : '';
}
