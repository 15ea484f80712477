import { useNow } from '../data/use-now.ts';
import { durationText, relativeText } from '../words/duration.ts';
import { exactInstant } from '../words/instant.ts';

/** An instant relative to now; the exact time is shown on hover or focus. */
export function When({ at }: { at: string | null }) {
  const now = useNow();
  if (at === null) return <span className="faint">–</span>;
  const ms = Date.parse(at);
  return (
    <time dateTime={at} title={exactInstant(ms)}>
      {relativeText(ms, now)}
    </time>
  );
}

/** How long something has taken, to its end or so far. */
export function Elapsed({ from, to }: { from: string | null; to: string | null }) {
  if (from === null) return <span className="faint">–</span>;
  if (to !== null) return <span>{durationText(Date.parse(to) - Date.parse(from))}</span>;
  return <Ticking from={Date.parse(from)} />;
}

interface Run {
  status: string;
  started_at: string | null;
  done_at: string | null;
}

/** How long the last attempt of a job has taken; nothing while the job waits for the next one. */
export function Took({ of: { status, started_at, done_at } }: { of: Run }) {
  return <Elapsed from={status === 'running' || done_at !== null ? started_at : null} to={done_at} />;
}

function Ticking({ from }: { from: number }) {
  const now = useNow();
  return <span>{durationText(Math.max(0, Math.floor((now - from) / 1_000) * 1_000))}</span>;
}
