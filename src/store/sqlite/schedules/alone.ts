/** A part of a call that may fail without the rest of it. */

import { isRowError } from '../../../core/error.ts';
import type { Context } from '../base/context.ts';
import { translate } from '../base/sqlite-error.ts';
import { Aftermath } from '../graph/aftermath.ts';

/** Does `write`; where that fails because of what it writes, nothing of it is there, and `instead` answers. */
export function alone<T>(context: Context, write: (own: Context) => T, instead: (error: unknown) => T): T {
  const { database, lanes, fairQueues } = context;
  database.run('savepoint alone');
  try {
    const own = { ...context, aftermath: new Aftermath() };
    const answer = write(own);
    own.aftermath.finish(own);
    database.run('release alone');
    return answer;
  } catch (error) {
    // A full disk may have ended the whole transaction.
    if (!database.inTransaction || !isRowError(translate(error, ''))) throw error;
    database.run('rollback to alone');
    database.run('release alone');
    lanes.forget();
    fairQueues.forget();
    return instead(error);
  }
}
