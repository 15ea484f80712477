/** A part of a call that may fail without the rest of it. */

import { isRowError } from '../../../core/error.ts';
import type { Context } from '../base/context.ts';
import { translate } from '../base/sqlite-error.ts';
import { GraphUpdate } from '../graph/graph-update.ts';

/** Does `write`; where that fails because of what it writes, nothing of it is there, and `instead` answers. */
export function alone<T>(context: Context, write: (own: Context) => T, instead: (error: unknown) => T): T {
  const { database, lanes, fairQueues } = context;
  database.run('savepoint alone');
  try {
    const own = { ...context, graphUpdate: new GraphUpdate() };
    const answer = write(own);
    own.graphUpdate.write(own);
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
