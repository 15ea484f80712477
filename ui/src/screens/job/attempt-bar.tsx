import type { Attempt, JobDetail } from '../../../../src/api/job.ts';
import { useNow } from '../../data/use-now.ts';
import { durationText } from '../../words/duration.ts';
import { STATE_TONES } from '../../words/state.ts';

interface Segment {
  kind: 'wait' | 'backoff' | 'run';
  from: number;
  to: number;
  /** For a run: its attempt and how it ended. */
  attempt?: number;
  outcome?: string;
}

interface AttemptBarProps {
  job: JobDetail;
  attempts: readonly Attempt[];
  chosen: string | null;
  onChoose: (attempt: string | null) => void;
}

/** The life of a job in one line: it waited, ran, waited, ran again. A click shows the log of that attempt. */
export function AttemptBar({ job, attempts, chosen, onChoose }: AttemptBarProps) {
  const now = useNow();
  const segments = segmentsOf(job, attempts, now);
  if (!segments.some(({ kind }) => kind === 'run')) return null;
  return (
    <ol className="attempt-bar" aria-label="Attempts">
      {segments.map((segment) => (
        <Part key={`${segment.kind} ${segment.from}`} segment={segment} chosen={chosen} onChoose={onChoose} />
      ))}
    </ol>
  );
}

function Part({ segment, chosen, onChoose }: { segment: Segment } & Pick<AttemptBarProps, 'chosen' | 'onChoose'>) {
  const { kind, from, to, attempt, outcome } = segment;
  // A wait of hours must not hide a run of seconds: lengths are compressed.
  const style = { flexGrow: Math.max(1, Math.sqrt(to - from)) };
  const took = durationText(to - from);
  if (kind !== 'run') {
    // Between attempts a job backs off, or somebody retries it.
    const text = `waited ${took}`;
    return (
      <li className={`attempt-part attempt-${kind}`} style={style} title={text}>
        <span className="attempt-words">{text}</span>
      </li>
    );
  }
  const on = chosen === String(attempt);
  return (
    <li className={`attempt-part tone-${STATE_TONES[outcome ?? ''] ?? 'grey'}`} style={style}>
      <button
        type="button"
        className="attempt-run"
        aria-pressed={on}
        title={`Attempt ${attempt}: ${outcome} after ${took}`}
        onClick={() => onChoose(on ? null : String(attempt))}
      >
        <span className="attempt-words">
          #{attempt} {outcome} {took}
        </span>
      </button>
    </li>
  );
}

function segmentsOf(job: JobDetail, attempts: readonly Attempt[], now: number): Segment[] {
  const segments: Segment[] = [];
  let at = Date.parse(job.created_at);
  const wait = (until: number): void => {
    // After a failure the job is not due before its backoff has passed.
    const kind = ['failed', 'timeout'].includes(segments.at(-1)?.outcome ?? '') ? 'backoff' : 'wait';
    if (until - at >= 50) segments.push({ kind, from: at, to: until });
  };
  for (const { attempt, started_at, ended_at, outcome } of attempts) {
    const [from, to] = [Date.parse(started_at), Date.parse(ended_at)];
    wait(from);
    segments.push({ kind: 'run', from, to, attempt, outcome });
    at = to;
  }
  if (job.status === 'running' && job.started_at !== null) {
    const from = Date.parse(job.started_at);
    wait(from);
    segments.push({ kind: 'run', from, to: Math.max(from, now), attempt: job.attempts, outcome: 'running' });
  } else if (job.done_at === null) wait(now);
  return segments;
}
