/** Ctrl-C while a job is followed: once leaves the job alone, twice cancels it. */

import type { Connection } from './connection.ts';
import { EXIT } from './exit-code.ts';
import { failureOf } from './failure.ts';
import { note, reportError } from './report.ts';
import { waitForEnd } from './wait-for-end.ts';

/** How long a second Ctrl-C is waited for. */
const SECOND_WITHIN_MS = 2_000;

export interface Interrupt extends Disposable {
  /** Aborts when the job is left. */
  readonly signal: AbortSignal;
  /** Resolves with the exit code when the job is left, or was cancelled from here. */
  readonly left: Promise<number>;
}

export function detachOnInterrupt(connection: Connection, id: string): Interrupt {
  const leaving = new AbortController();
  const { promise: left, resolve } = Promise.withResolvers<number>();
  const leave = (code: number): void => {
    leaving.abort();
    resolve(code);
  };
  let presses = 0;
  let timer: NodeJS.Timeout | undefined;
  const onInterrupt = (): void => {
    presses += 1;
    clearTimeout(timer);
    if (presses === 1) {
      note(`\njob ${id} goes on: workron logs -f ${id}\npress Ctrl-C again to cancel it`);
      timer = setTimeout(() => leave(EXIT.interrupted), SECOND_WITHIN_MS);
    } else if (presses === 2) {
      note(`cancelling job ${id}`);
      void cancel(connection, id).finally(() => leave(EXIT.interrupted));
    } else {
      leave(EXIT.interrupted);
    }
  };
  const onTerminate = (): void => leave(143);
  process.on('SIGINT', onInterrupt);
  process.on('SIGTERM', onTerminate);
  return {
    signal: leaving.signal,
    left,
    [Symbol.dispose]() {
      clearTimeout(timer);
      process.off('SIGINT', onInterrupt);
      process.off('SIGTERM', onTerminate);
    },
  };
}

async function cancel(connection: Connection, id: string): Promise<void> {
  try {
    await connection.json('POST', `/jobs/${id}/cancel`);
    await waitForEnd(connection, id);
  } catch (error) {
    const failure = failureOf(error, []);
    if (failure !== undefined) reportError(failure, false);
  }
}
