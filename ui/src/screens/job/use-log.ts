import { useEffect, useMemo, useState, useSyncExternalStore } from 'react';
import { client } from '../../data/client.ts';
import { numberText } from '../../words/count.ts';
import { messageOf } from '../../words/message-of.ts';
import { LogLines } from './log-lines.ts';

export interface LogState {
  lines: LogLines;
  version: number;
  /** True if no more output will arrive. */
  ended: boolean;
  problem: string | null;
}

const PAUSE_BYTES = 400_000;

/** Follows the output of an attempt, or of the last attempt and all later ones if `attempt` is null. */
export function useLog(jobId: string, attempt: number | null, again: number): LogState {
  const lines = useMemo(() => new LogLines(), [jobId, attempt, again]);
  const [ended, setEnded] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => {
    const stop = new AbortController();
    setEnded(false);
    setProblem(null);
    void follow(lines, { jobId, attempt, signal: stop.signal })
      .then(() => setEnded(true))
      .catch((error: unknown) => {
        if (!stop.signal.aborted) setProblem(messageOf(error));
      });
    return () => stop.abort();
  }, [lines, jobId, attempt]);
  const version = useSyncExternalStore(lines.subscribe, () => lines.version);
  return { lines, version, ended, problem };
}

async function follow(
  lines: LogLines,
  { jobId, attempt, signal }: { jobId: string; attempt: number | null; signal: AbortSignal },
): Promise<void> {
  let shown: number | null = null;
  let taken = 0;
  for await (const event of client.followLogs(jobId, { signal, ...(attempt === null ? {} : { attempt }) })) {
    if (event.type === 'end') return;
    if (shown !== null && event.attempt !== shown) lines.note(`attempt ${event.attempt}`);
    shown = event.attempt;
    if (event.type === 'cut') {
      lines.note(`${numberText(event.bytes)} bytes were too many to keep`);
      continue;
    }
    lines.append(event.text, Date.parse(event.received_at));
    taken += event.text.length;
    // A long log is read in parts, so that the page stays responsive.
    if (taken > PAUSE_BYTES) {
      taken = 0;
      await new Promise((resolve) => setTimeout(resolve));
    }
  }
}
