/** What a store can do inside a transaction of the application's own. */

import type { NewJob } from '../core/job.ts';
import type { Success } from '../core/lease.ts';

/** Runs one statement inside the transaction and answers with its rows. */
export type RunStatement = (text: string, values: readonly unknown[]) => Promise<readonly unknown[]>;

export interface Enlisted {
  id: number;
  /** A unique key led to this job, which was there before. */
  deduplicated: boolean;
}

export interface Transactional {
  /**
   * Stores jobs in the transaction, in order: they are there once it commits, and never if it does not. Nobody else waits
   * for it. Jobs with parents are judged after the commit (`Store.adopt`). A key's holder cannot be replaced here.
   */
  enlist(run: RunStatement, jobs: readonly NewJob[], signal: AbortSignal): Promise<Enlisted[]>;
  /** Ends an attempt as `done` if the transaction commits; throws `lease_lost` where it is no longer this worker's. */
  complete(run: RunStatement, success: Success): Promise<void>;
}
