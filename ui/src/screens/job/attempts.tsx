import { byteText } from '../../../../src/api/byte-text.ts';
import type { Attempt } from '../../../../src/api/job.ts';
import { Empty } from '../../parts/notes.tsx';
import { State } from '../../parts/state.tsx';
import { Elapsed, When } from '../../parts/when.tsx';
import { durationText } from '../../words/duration.ts';
import { visibleText } from '../../words/visible-text.ts';
import { WorkerName } from './worker-name.tsx';

/** Every attempt that has ended, the last first, each with its error and its log. */
export function Attempts({ attempts, onLog }: { attempts: readonly Attempt[]; onLog: (attempt: number) => void }) {
  if (attempts.length === 0) return <Empty title="No attempt has ended yet" />;
  return (
    <ol className="attempts">
      {attempts.toReversed().map((attempt) => (
        <li key={attempt.attempt} className="card">
          <header>
            <b>Attempt {attempt.attempt}</b>
            <State of={attempt.outcome} />
            <span className="faint">
              {attempt.signal ?? (attempt.exit_code === null ? '' : `exit ${attempt.exit_code}`)}
            </span>
            <span>
              <When at={attempt.started_at} />, <Elapsed from={attempt.started_at} to={attempt.ended_at} />
            </span>
            {attempt.usage !== null && <span className="faint">{usageText(attempt.usage)}</span>}
            {attempt.worker_id !== null && <WorkerName id={attempt.worker_id} />}
            <span className="spacer" />
            <button type="button" className="small" onClick={() => onLog(attempt.attempt)}>
              Log
            </button>
          </header>
          {attempt.error !== null && <pre className="error-pre">{visibleText(attempt.error)}</pre>}
        </li>
      ))}
    </ol>
  );
}

function usageText({ cpu_ms, max_rss_bytes }: NonNullable<Attempt['usage']>): string {
  const cpu = `CPU ${durationText(cpu_ms)}`;
  return max_rss_bytes === null ? cpu : `${cpu}, memory ${byteText(max_rss_bytes)}`;
}
