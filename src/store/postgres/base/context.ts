import type { LinkedClaims } from '../graph/linked-claims.ts';
import type { RecentSuccesses } from '../graph/recent-successes.ts';
import type { Lanes } from '../jobs/lanes.ts';
import type { FairQueues } from '../jobs/turns.ts';
import type { Database } from './database.ts';
import type { Hints } from './hints.ts';
import type { Sql } from './sql.ts';

/** What every call works with. */
export interface Context {
  /** Quoted, as it stands in statements. */
  schema: string;
  /** Whether texts can be compared without regard to case beyond ASCII. */
  folds: boolean;
  database: Database;
  sql: Sql;
  lanes: Lanes;
  fairQueues: FairQueues;
  hints: Hints;
  linkedClaims: LinkedClaims;
  recentSuccesses: RecentSuccesses;
}
