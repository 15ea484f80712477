/** Turns signals into a shutdown in steps: the first waits for running jobs, the second stops them, a third does not wait for that. */

import type { Log } from '../ops/log.ts';

/** With npm, one Ctrl-C arrives twice within a millisecond. Only a later signal counts as the next. */
const NEXT_SIGNAL_AFTER_MS = 1_000;

export interface Shutdown extends Disposable {
  /** Begins the first step without a signal. */
  begin(): void;
  /** Aborts at the first signal: no new jobs are taken. */
  readonly drain: AbortSignal;
  /** Aborts at the second signal: running jobs are stopped. */
  readonly stop: AbortSignal;
}

export function listenForShutdown(log: Log): Shutdown {
  const drain = new AbortController();
  const stop = new AbortController();
  let firstAt: number | null = null;
  let secondAt: number | null = null;
  const onSignal = (name: NodeJS.Signals) => {
    const now = performance.now();
    if (firstAt === null) {
      firstAt = now;
      log.info({ signal: name }, 'shutting down: running jobs finish first; signal again to stop them');
      drain.abort();
    } else if (secondAt === null && now - firstAt >= NEXT_SIGNAL_AFTER_MS) {
      secondAt = now;
      log.warn({ signal: name }, 'stopping running jobs now; signal again to end without waiting for them');
      stop.abort();
    } else if (secondAt !== null && now - secondAt >= NEXT_SIGNAL_AFTER_MS) {
      log.error({ signal: name }, 'ending at once: the launcher stops what still runs');
      process.exit(1);
    }
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
  return {
    begin: () => drain.abort(),
    drain: drain.signal,
    stop: stop.signal,
    [Symbol.dispose]() {
      process.off('SIGTERM', onSignal);
      process.off('SIGINT', onSignal);
    },
  };
}
