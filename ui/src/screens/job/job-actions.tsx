import { useState } from 'react';
import { useLocation } from 'wouter';
import type { JobDetail } from '../../../../src/api/job.ts';
import type { JobSubmissionInput } from '../../../../src/api/job-submission.ts';
import { client } from '../../data/client.ts';
import { useAction } from '../../data/use-action.ts';
import { CopyLine } from '../../parts/copy.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { JobForm } from '../../shell/job-form.tsx';
import { asCli, asCurl } from '../../words/as-command.ts';
import { hasEnded, mayRetry } from '../../words/state.ts';

/** What a person may do to a job, depending on where it is. */
export function JobActions({ job, onRetried }: { job: JobDetail; onRetried: () => void }) {
  const [opened, setOpened] = useState<'again' | 'copy' | null>(null);
  const [, go] = useLocation();
  const cancel = useAction({
    run: () => client.cancel(job.id),
    done: (after) => (after.status === 'cancelled' ? `Job ${job.id} is cancelled` : `Job ${job.id} is asked to stop`),
  });
  const retry = useAction({
    run: () => client.retry(job.id),
    done: () => `Job ${job.id} waits again`,
    after: onRetried,
  });
  const close = (): void => setOpened(null);
  return (
    <>
      {!hasEnded(job.status) && (
        <button
          type="button"
          className="danger"
          disabled={cancel.running || job.cancel_requested_at !== null}
          onClick={() => cancel.run()}
        >
          {job.cancel_requested_at === null ? 'Cancel' : 'Stopping…'}
        </button>
      )}
      {mayRetry(job.status) && (
        <button type="button" className="primary" disabled={retry.running} onClick={() => retry.run()}>
          Retry
        </button>
      )}
      <button type="button" onClick={() => setOpened('again')}>
        Run again…
      </button>
      <button type="button" onClick={() => setOpened('copy')}>
        Copy as…
      </button>
      {opened === 'again' && (
        <Dialog title={`Run job ${job.id} again`} onClose={close} wide>
          {job.env.length > 0 && (
            <p className="note">
              The values of {job.env.join(', ')} cannot be read back, so the new job is submitted without them.
            </p>
          )}
          <JobForm
            start={submissionOf(job)}
            verb="Submit as a new job"
            onDone={(made) => {
              close();
              go(`/jobs/${made.id}`);
            }}
          />
        </Dialog>
      )}
      {opened === 'copy' && (
        <Dialog title="Copy as" onClose={close} wide>
          <div className="stack">
            {asCli(submissionOf(job)) !== null && (
              <CopyLine label="Command line" text={asCli(submissionOf(job)) ?? ''} />
            )}
            <CopyLine label="curl" text={asCurl(submissionOf(job), location.origin)} />
            <CopyLine label="Follow its log" text={`workron logs -f ${job.id}`} />
            <CopyLine label="Link to this job" text={location.href} />
          </div>
        </Dialog>
      )}
    </>
  );
}

/** The job as it could be submitted again: what was asked for, without the defaults. */
function submissionOf(job: JobDetail): JobSubmissionInput {
  return {
    ...(job.command !== null && { command: job.command }),
    ...(job.handler !== null && { handler: job.handler }),
    ...(job.handler !== null && job.input != null && { input: job.input }),
    ...(job.name !== null && { name: job.name }),
    ...(job.queue !== 'default' && { queue: job.queue }),
    ...(job.priority !== 0 && { priority: job.priority }),
    ...(job.max_attempts !== 3 && { max_attempts: job.max_attempts }),
    ...(job.timeout !== 300_000 && { timeout: job.timeout }),
    ...(job.start_timeout !== null && { start_timeout: job.start_timeout }),
    ...(job.kill_grace !== 10_000 && { kill_grace: job.kill_grace }),
    ...(job.retry_on !== null && { retry_on: job.retry_on }),
    ...(job.no_retry_on !== null && { no_retry_on: job.no_retry_on }),
    ...(job.rerun !== 'safe' && { rerun: job.rerun }),
    ...(job.on_disconnect !== 'stop' && { on_disconnect: job.on_disconnect }),
    ...(job.cwd !== null && { cwd: job.cwd }),
    ...(job.tags.length > 0 && { tags: job.tags }),
    ...(job.requires.length > 0 && { requires: job.requires }),
    ...(Object.keys(job.resources).length > 0 && { resources: job.resources }),
    ...(job.fair_key !== null && { fair_key: job.fair_key }),
  };
}
