import { byteText } from '../../../../src/api/byte-text.ts';
import type { JobDetail } from '../../../../src/api/job.ts';
import { pathOf } from '../../../../src/api/route.ts';
import { routes } from '../../../../src/api/routes.ts';
import { API } from '../../data/place.ts';
import { CopyButton } from '../../parts/copy.tsx';
import { JsonTree } from '../../parts/json-tree.tsx';
import { When } from '../../parts/when.tsx';
import { durationText } from '../../words/duration.ts';
import { rateText } from '../../words/rate.ts';
import { visibleText } from '../../words/visible-text.ts';

/** The job's command or input, its result and its settings. */
export function Details({ job }: { job: JobDetail }) {
  return (
    <div className="details-grid">
      {job.command !== null && (
        <section className="card">
          <header className="card-head">
            <h2>Command</h2>
            <CopyButton text={job.command} label="Copy" />
          </header>
          <pre className="command">{visibleText(job.command)}</pre>
        </section>
      )}
      {(job.handler !== null || job.input != null || job.seal_input) && <Input job={job} />}
      <section className="card">
        <header className="card-head">
          <h2>Result</h2>
          {job.result != null && <CopyButton text={JSON.stringify(job.result, null, 2)} label="Copy" />}
        </header>
        {job.result == null ? <p className="faint">None.</p> : <JsonTree value={job.result} label="Result" />}
      </section>
      {job.checkpoint !== null && (
        <section className="card">
          <header className="card-head">
            <h2>Checkpoint</h2>
            <a href={API + pathOf(routes.readCheckpoint, { id: job.id })} download={`checkpoint-${job.id}`}>
              Download
            </a>
          </header>
          <p>
            {byteText(job.checkpoint.bytes)}, written by attempt {job.checkpoint.attempt}{' '}
            <When at={job.checkpoint.written_at} />
          </p>
        </section>
      )}
      <section className="card">
        <h2>Settings</h2>
        <JsonTree label="Settings" value={settingsOf(job)} />
      </section>
    </div>
  );
}

function Input({ job }: { job: JobDetail }) {
  return (
    <section className="card">
      <header className="card-head">
        <h2>{job.handler === null ? 'Standard input' : `Input of ${visibleText(job.handler)}`}</h2>
        {!job.seal_input && <CopyButton text={JSON.stringify(job.input, null, 2)} label="Copy" />}
      </header>
      {job.seal_input ? (
        <p className="faint">Sealed: only the worker that runs the job gets it.</p>
      ) : (
        <JsonTree value={job.input} label="Input" />
      )}
    </section>
  );
}

/** The settings that have a value, durations as text. */
function settingsOf(job: JobDetail): Record<string, unknown> {
  const settings: Record<string, unknown> = {
    queue: job.queue,
    priority: job.priority,
    max_attempts: job.max_attempts,
    backoff: backoffText(job),
    timeout: durationText(job.timeout),
    start_timeout: job.start_timeout === null ? null : durationText(job.start_timeout),
    kill_grace: durationText(job.kill_grace),
    retry_on: job.retry_on,
    no_retry_on: job.no_retry_on,
    rerun: job.rerun,
    on_disconnect: job.on_disconnect,
    cwd: job.cwd,
    env: job.env,
    requires: job.requires,
    resources: job.resources,
    fair_key: job.fair_key,
    limits: job.limits.map(({ key, max }) => `${key}: at most ${max}`),
    rates: job.rates.map((rate) => `${rate.key}: ${rateText(rate)}`),
    on_limit: job.on_limit === 'queue' ? null : job.on_limit,
    gang: job.gang,
    continue_on_failure: job.continue_on_failure || null,
  };
  return Object.fromEntries(
    Object.entries(settings).filter(([, value]) => value !== null && JSON.stringify(value).length > 2),
  );
}

function backoffText({ backoff: { type, base, cap } }: JobDetail): string {
  if (type === 'none') return type;
  return type === 'fixed' ? `fixed, ${durationText(base)}` : `${type}, ${durationText(base)} to ${durationText(cap)}`;
}
