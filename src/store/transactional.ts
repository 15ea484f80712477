/** The calls of a store inside an application's transaction. */

import type { NewJob } from '../core/job.ts';
import type { Success } from '../core/lease.ts';

/** Runs one statement inside the transaction and returns its rows, at once or later. */
export type RunStatement = (
  text: string,
  values: readonly unknown[],
) => readonly unknown[] | PromiseLike<readonly unknown[]>;

export interface Enlisted {
  id: number;
  /** True if the job existed before and holds the unique key. */
  deduplicated: boolean;
}

export interface Transactional {
  /**
   * Stores jobs in the transaction, in order: they exist if it commits. No other process waits for the transaction. Jobs
   * with parents are judged after the commit (`Store.adopt`). The holder of a unique key cannot be replaced here. If `run`
   * answers at once, SQLite runs all statements before it returns: such a transaction may end in the same turn.
   */
  enlist(run: RunStatement, jobs: readonly NewJob[], signal: AbortSignal): Promise<Enlisted[]>;
  /** Ends an attempt as `done` if the transaction commits. Throws `lease_lost` if it no longer belongs to this worker. */
  complete(run: RunStatement, success: Success): Promise<void>;
}
