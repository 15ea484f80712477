/** Ends long polls and streams whose caller is not accepted any more. */

import { WorkronError } from '../core/error.ts';
import type { Log } from '../ops/log.ts';

const CHECK_EVERY_MS = 5_000;

/**
 * Aborts within seconds of the end of the token or session that a request came with: revoked, expired, logged out. `over` ends the
 * checks. One that fails, since the store does not answer, is repeated.
 */
export function watchAccess(
  isStillAccepted: () => Promise<boolean>,
  log: Log,
): { ended: AbortSignal; over: () => void } {
  const access = new AbortController();
  const timer = setInterval(() => {
    isStillAccepted().then(
      (accepted) => {
        if (!accepted) access.abort(new WorkronError('unauthorized', 'The token or session has ended'));
      },
      (error: unknown) => log.debug({ error }, 'the caller of a long request could not be checked'),
    );
  }, CHECK_EVERY_MS).unref();
  return { ended: access.signal, over: () => clearInterval(timer) };
}
