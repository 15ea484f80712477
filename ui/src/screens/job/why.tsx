import { Link } from 'wouter';
import type { JobDetail } from '../../../../src/api/job.ts';
import { Took, When } from '../../parts/when.tsx';
import { givenTags } from '../../words/gang.ts';
import { dayText } from '../../words/instant.ts';
import { queuePath } from '../../words/queue-path.ts';
import { reasonText } from '../../words/reason.ts';
import { hasEnded } from '../../words/state.ts';
import { visibleLine, visibleText } from '../../words/visible-text.ts';
import { isGroup } from './is-group.ts';
import { WorkerName } from './worker-name.tsx';

/** The job's state in words: what it waits for, how long it has run, why it ended. */
export function Why({ job }: { job: JobDetail }) {
  // The items of a for_each step say how it failed.
  const reason = isGroup(job) ? null : reasonText(job);
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
      {job.waiting_for !== null && (
        <p className="why-line" data-why="">
          Waiting for <bdi>{visibleLine(withLocalTimes(job.waiting_for))}</bdi>.
        </p>
      )}
      {reason !== null && (
        <p className={job.status === 'failed' ? 'why-line why-bad' : 'why-line'} data-why="">
          {reason}
        </p>
      )}
      {job.status !== 'done' && job.error !== null && <ErrorText job={job} error={job.error} />}
    </div>
  );
}

/** Its first line; the others can be unfolded. Quiet while the job runs or waits again. */
function ErrorText({ job, error }: { job: JobDetail; error: string }) {
  const [first = '', ...rest] = error.split('\n');
  const over = hasEnded(job.status);
  const headline = over ? visibleLine(first) : `Earlier attempt: ${visibleLine(first)}`;
  const look = over ? 'error-text' : 'error-text error-earlier';
  if (rest.length === 0) return <p className={look}>{headline}</p>;
  return (
    <details className={look} open={over && rest.length <= 6}>
      <summary>{headline}</summary>
      <pre>{visibleText(rest.join('\n'))}</pre>
    </details>
  );
}

/** Instants in the time zone of the viewer. */
function withLocalTimes(text: string): string {
  return text.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, (instant) => dayText(Date.parse(instant)));
}

function attemptsText({ attempts, failures, max_attempts }: JobDetail): string {
  if (failures === 0) return `${attempts} of ${max_attempts}`;
  return `${failures} of ${max_attempts} failed`;
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
