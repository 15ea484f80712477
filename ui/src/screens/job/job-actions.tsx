import { useState } from 'react';
import { useLocation } from 'wouter';
import type { JobDetail } from '../../../../src/api/job.ts';
import { client } from '../../data/client.ts';
import { useAction } from '../../data/use-action.ts';
import { CopyLine } from '../../parts/copy.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { May } from '../../parts/may.tsx';
import { JobForm } from '../../shell/job-form.tsx';
import { asCli, asCurl, workron } from '../../words/as-command.ts';
import { hasEnded, mayRetry } from '../../words/state.ts';
import { submissionOf } from '../../words/submission-of.ts';
import { RunAgain } from './run-again.tsx';

/** The actions that a job's status allows. */
export function JobActions({ job, onRetried }: { job: JobDetail; onRetried: () => void }) {
  const [opened, setOpened] = useState<'changed' | 'copy' | null>(null);
  const cancel = useAction({
    run: () => client.cancelJob(job.id),
    done: (after) => (after.status === 'cancelled' ? `Job ${job.id} is cancelled` : `Job ${job.id} is asked to stop`),
  });
  const retry = useAction({
    run: () => client.retryJob(job.id),
    done: () => `Job ${job.id} is queued again`,
    after: onRetried,
  });
  const close = (): void => setOpened(null);
  return (
    <>
      <May scope="operate">
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
      </May>
      <RunAgain job={job} />
      <May scope="submit">
        <button type="button" onClick={() => setOpened('changed')}>
          Run with changes…
        </button>
      </May>
      <button type="button" onClick={() => setOpened('copy')}>
        Copy as…
      </button>
      {opened === 'changed' && <RunChangedDialog job={job} onClose={close} />}
      {opened === 'copy' && <CopyAsDialog job={job} onClose={close} />}
    </>
  );
}

interface JobDialogProps {
  job: JobDetail;
  onClose: () => void;
}

function RunChangedDialog({ job, onClose }: JobDialogProps) {
  const [, go] = useLocation();
  return (
    <Dialog title={`Run job ${job.id} with changes`} onClose={onClose} wide>
      {job.env.length > 0 && (
        <p className="note">
          The values of {job.env.join(', ')} cannot be read back, so the new job is submitted without them.
        </p>
      )}
      {job.seal_input && (
        <p className="note">
          Its input is sealed and cannot be read back. The new job has what is given here, sealed as well.
        </p>
      )}
      <JobForm
        start={{ ...submissionOf(job), backoff: job.backoff }}
        verb="Submit as a new job"
        onDone={(made) => {
          onClose();
          go(`/jobs/${made.id}`);
        }}
      />
    </Dialog>
  );
}

function CopyAsDialog({ job, onClose }: JobDialogProps) {
  return (
    <Dialog title="Copy as" onClose={onClose} wide>
      <div className="stack">
        <CopyLine label="Command line" text={asCli(submissionOf(job))} />
        <CopyLine label="curl" text={asCurl(submissionOf(job))} />
        <CopyLine label="Follow its log" text={workron(`logs -f ${job.id}`)} />
        <CopyLine label="Link to this job" text={location.href} />
      </div>
    </Dialog>
  );
}
