/** Turns signals into a shutdown in two steps: finish what runs, then, if asked again, stop it. */

import type { Log } from '../ops/log.ts';

/** A terminal's Ctrl-C through npm arrives twice within a millisecond: only a later one is a second wish. */
const SECOND_SIGNAL_AFTER_MS = 1_000;

export interface Shutdown extends Disposable {
  /** Aborts at the first signal: no new work. */
  readonly drain: AbortSignal;
  /** Aborts at a second signal: stop what runs. */
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
    drain: drain.signal,
    stop: stop.signal,
    [Symbol.dispose]() {
      process.off('SIGTERM', onSignal);
      process.off('SIGINT', onSignal);
    },
  };
}
