/** Limits and rates: queues that have one, and what happens when an attempt ends. */

import type { QueueSettings } from '../../../core/queue.ts';
import type { EndedAttempts } from '../../sql/tx.ts';
import type { Session } from '../base/database.ts';
import type { Sql } from '../base/sql.ts';
import { numbers } from '../base/values.ts';

/** A queue that is paused, or has a limit or a rate. */
export interface LimitedQueue {
  name: string;
  paused: boolean;
  max_running: number | null;
  rate: QueueSettings['rate'];
}

/** Attempts have ended: jobs that wait for their meters may start. These are the last locks of a transaction. */
export async function releaseMeters(sql: Sql, session: Session, { limited, returned }: EndedAttempts): Promise<void> {
  if (limited.length + returned.length === 0) return;
  const values = [numbers(limited), numbers(returned)];
  const locked = await session.query(sql.lockMeters, values);
  // Read in a later statement than the locks: see 'Locking' in docs/architecture.md. Jobs without limits mostly have no meters.
  if (limited.length + locked.length > 0) await session.query(sql.releaseMeters, values);
}
