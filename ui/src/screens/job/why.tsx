import { Link } from 'wouter';
import type { JobDetail } from '../../../../src/api/job.ts';
import { Elapsed, When } from '../../parts/when.tsx';
import { givenTags } from '../../words/gang.ts';
import { reasonText } from '../../words/reason.ts';
import { visibleLine, visibleText } from '../../words/visible-text.ts';
import { WorkerName } from './worker-name.tsx';

/** The job's state in words: what it waits for, how long it has run, why it ended. */
export function Why({ job }: { job: JobDetail }) {
  // The items of a for_each step say how it failed.
  const isGroup = job.status === 'failed' && job.reason === 'exit' && job.exit_code === null && job.attempts === 0;
  const reason = isGroup ? null : reasonText(job);
  const tags = givenTags(job);
  const [headline, ...rest] = (job.error ?? '').split('\n');
  return (
    <div className="why">
      <dl className="facts">
        <Fact title="Queue">
          <Link href={`/jobs?queue=${encodeURIComponent(job.queue)}`}>
            <bdi>{visibleLine(job.queue)}</bdi>
          </Link>
        </Fact>
        <Fact title="Submitted">
          <When at={job.created_at} />
          {job.submitted_by !== null && <Submitter name={job.submitted_by} />}
        </Fact>
        <Fact title={job.status === 'running' ? 'Running for' : 'Took'}>
          <Elapsed from={job.started_at} to={job.status === 'running' ? null : (job.done_at ?? job.started_at)} />
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
          Waiting for <bdi>{visibleLine(job.waiting_for)}</bdi>.
        </p>
      )}
      {reason !== null && (
        <p className={job.status === 'failed' ? 'why-line why-bad' : 'why-line'} data-why="">
          {reason}
        </p>
      )}
      {job.status !== 'done' && job.error !== null && (
        <details className="error-text" open={rest.length <= 6}>
          <summary>{visibleLine(headline ?? '')}</summary>
          {rest.length > 0 && <pre>{visibleText(rest.join('\n'))}</pre>}
        </details>
      )}
    </div>
  );
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
