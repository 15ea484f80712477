/** Turns signals into a shutdown in two steps: the first waits for running jobs, the second stops them. */

import type { Log } from '../ops/log.ts';

/** With npm, one Ctrl-C arrives twice within a millisecond. Only a later signal counts as the second. */
const SECOND_SIGNAL_AFTER_MS = 1_000;

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
  const onSignal = (name: NodeJS.Signals) => {
    const now = performance.now();
    if (firstAt === null) {
      firstAt = now;
      log.info({ signal: name }, 'shutting down: running jobs finish first; signal again to stop them');
      drain.abort();
    } else if (now - firstAt >= SECOND_SIGNAL_AFTER_MS) {
      log.warn({ signal: name }, 'stopping running jobs now');
      stop.abort();
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
