import { WorkronError } from '../../../core/error.ts';
import { StartAgain } from '../../sql/tx.ts';
import type { Context } from '../base/context.ts';
import type { CountingSession } from '../base/database.ts';

const MAX_ROUNDS = 20;

/** Lanes that this process does not know. They are looked up outside of the transaction, which then starts again. */
export class UnknownLanes extends Error {
  readonly keys: readonly string[];

  constructor(keys: readonly string[]) {
    super('unknown lanes');
    this.keys = keys;
  }
}

/** Runs `body` in a transaction, and again if it throws `StartAgain` or `UnknownLanes`. */
export async function retryTransaction<T>(
  { database, lanes }: Context,
  signal: AbortSignal,
  body: (session: CountingSession) => Promise<T>,
): Promise<T> {
  for (let round = 1; ; round += 1) {
    try {
      return await database.transaction(signal, body);
    } catch (error) {
      if (error instanceof UnknownLanes) await lanes.idsOf(error.keys, signal);
      else if (!(error instanceof StartAgain)) throw error;
      if (round >= MAX_ROUNDS) {
        throw new WorkronError('store_unavailable', 'Jobs or keys that belong together keep changing', {
          retryAfterMs: 1_000,
        });
      }
    }
  }
}
