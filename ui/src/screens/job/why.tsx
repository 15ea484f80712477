import { Link } from 'wouter';
import type { JobDetail } from '../../../../src/api/job.ts';
import { reasonText } from '../../../../src/api/words/reason.ts';
import { waitingText } from '../../../../src/api/words/waiting.ts';
import { Took, When } from '../../parts/when.tsx';
import { givenTags } from '../../words/gang.ts';
import { dayText } from '../../words/instant.ts';
import { queuePath } from '../../words/queue-path.ts';
import { hasEnded } from '../../words/state.ts';
import { visibleLine, visibleText } from '../../words/visible-text.ts';
import { isGroup } from './is-group.ts';
import { WorkerName } from './worker-name.tsx';

/** The job's state in words: what it waits for, how long it has run, why it ended. */
export function Why({ job }: { job: JobDetail }) {
  const reason = endText(job);
  const tags = givenTags(job);
  return (
    <div className="why">
      <dl className="facts">
        <Fact title="Queue">
          <Link href={queuePath(job.queue)}>
            <bdi>{visibleLine(job.queue)}</bdi>
          </Link>
        </Fact>
        <Fact title="Submitted">
          <When at={job.created_at} />
          {job.submitted_by !== null && <Submitter name={job.submitted_by} />}
        </Fact>
        <Fact title={job.status === 'running' ? 'Running for' : 'Took'}>
          <Took of={job} />
        </Fact>
        {job.attempts > 0 && <Fact title="Attempts">{attemptsText(job)}</Fact>}
        {job.worker_id !== null && (
          <Fact title="Worker">
            <WorkerName id={job.worker_id} />
          </Fact>
        )}
        {tags.length > 0 && (
          <Fact title="Tags">
            {tags.map((tag) => (
              <Link key={tag} className="chip" href={`/jobs?tag=${encodeURIComponent(tag)}`}>
                <bdi>{visibleLine(tag)}</bdi>
              </Link>
            ))}
          </Fact>
        )}
      </dl>
      {job.waiting !== null && (
        <p className="why-line" data-why="">
          Waiting for{' '}
          <bdi>{visibleLine(waitingText(job.waiting, { at: (instant) => dayText(Date.parse(instant)) }))}</bdi>.
        </p>
      )}
      {reason !== null && (
        <p className={job.status === 'failed' ? 'why-line why-bad' : 'why-line'} data-why="">
          {reason}
        </p>
      )}
      {job.status !== 'done' && job.error !== null && job.failure !== null && (
        <ErrorText job={job} error={job.error} line={job.failure.line} />
      )}
    </div>
  );
}

/** Why the job did not succeed; `null` if its error says so, or the items of its group do. */
function endText(job: JobDetail): string | null {
  const { reason, failure, failures } = job;
  if (reason === null || isGroup(job) || (failure !== null && TOLD.includes(reason))) return null;
  const text = reasonText(reason);
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${failures > 1 ? ` (${failures} attempts)` : ''}.`;
}

/** The reasons that the line of the error begins with. */
const TOLD: readonly JobDetail['reason'][] = ['exit', 'signal', 'timeout', 'lost', 'expired', 'limit'];

/** What went wrong; all of the error can be unfolded. Quiet while the job runs or waits again. */
function ErrorText({ job, error, line }: { job: JobDetail; error: string; line: string }) {
  const rest = error.trimEnd().split('\n').slice(1);
  const over = hasEnded(job.status);
  const headline = over ? visibleLine(line) : `Earlier attempt: ${visibleLine(line)}`;
  const look = over ? 'error-text' : 'error-text error-earlier';
  if (rest.length === 0) return <p className={look}>{headline}</p>;
  return (
    <details className={look} open={over && rest.length <= 6}>
      <summary>{headline}</summary>
      <pre>{visibleText(rest.join('\n'))}</pre>
    </details>
  );
}

/** A retry by hand gives all attempts again, so there may be more than its maximum. */
function attemptsText({ attempts, failures, max_attempts }: JobDetail): string {
  return failures === 0 ? String(attempts) : `${failures} of ${max_attempts} failed`;
}

function Fact({ title, children }: { title: string; children: React.ReactNode }) {
  return (
    <div>
      <dt>{title}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** Leads to all that this token or person submitted. */
function Submitter({ name }: { name: string }) {
  return (
    <>
      {' '}
      by{' '}
      <Link href={`/jobs?submitted_by=${encodeURIComponent(name)}`}>
        <bdi>{visibleLine(name)}</bdi>
      </Link>
    </>
  );
}
