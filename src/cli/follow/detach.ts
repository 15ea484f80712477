/** Ctrl-C while a job or workflow is followed: once stops following it, twice cancels it. */

import { EXIT } from '../errors/cli-error.ts';
import { failureOf } from '../errors/failure.ts';
import { note, reportError } from '../errors/report.ts';

/** A second Ctrl-C counts within this time. */
const SECOND_WITHIN_MS = 2_000;

interface Followed {
  /** Its name in messages, such as `job 12`. */
  title: string;
  /** The command that follows it again. */
  again: string;
  /** Cancels it. Resolves once it has ended. */
  cancel(): Promise<unknown>;
}

interface Interrupt extends Disposable {
  /** Aborts when the command stops following. */
  readonly signal: AbortSignal;
  /** True if it was cancelled by a second Ctrl-C. */
  readonly cancelled: boolean;
  /** Resolves with the exit code when the command stops following. */
  readonly left: Promise<number>;
}

export function detachOnInterrupt(followed: Followed): Interrupt {
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
      note(`\n${followed.title} goes on: ${followed.again}\npress Ctrl-C again to cancel it`);
      timer = setTimeout(() => leave(EXIT.interrupted), SECOND_WITHIN_MS);
    } else if (presses === 2) {
      note(`cancelling ${followed.title}`);
      void cancel(followed).finally(() => leave(EXIT.interrupted));
    } else {
      leave(EXIT.interrupted);
    }
  };
  const onTerminate = (): void => leave(143);
  process.on('SIGINT', onInterrupt);
  process.on('SIGTERM', onTerminate);
  return {
    signal: leaving.signal,
    get cancelled() {
      return presses > 1;
    },
    left,
    [Symbol.dispose]() {
      clearTimeout(timer);
      process.off('SIGINT', onInterrupt);
      process.off('SIGTERM', onTerminate);
    },
  };
}

async function cancel(followed: Followed): Promise<void> {
  try {
    await followed.cancel();
  } catch (error) {
    const failure = failureOf(error, []);
    if (failure !== undefined) reportError(failure, false);
  }
}
