import type { Leadership } from '../cluster/leadership.ts';
import type { LinkedClaims } from '../graph/linked-claims.ts';
import type { RecentSuccesses } from '../graph/recent-successes.ts';
import type { Lanes } from '../jobs/lanes.ts';
import type { OpenClaims } from '../jobs/open-claims.ts';
import type { FairQueues } from '../jobs/turns.ts';
import type { Waiter } from '../jobs/waiter.ts';
import type { Database, Query } from './database.ts';
import type { DirectSession } from './direct-session.ts';
import type { SharedStatements } from './engine.ts';
import type { Hints } from './hints.ts';
import type { Sql } from './sql.ts';

/** The services and caches that every call uses. */
export interface Context {
  /** Quoted, as statements need it. */
  schema: string;
  /** True if the database folds case beyond ASCII. */
  folds: boolean;
  database: Database;
  /** The session that holds the locks of workers and duties. */
  direct: DirectSession;
  sql: Sql;
  /** The engine's statements. */
  shared: SharedStatements;
  lanes: Lanes;
  fairQueues: FairQueues;
  hints: Hints;
  /** Announces to other processes that there is work, if one waits for it. */
  announceWork: Query;
  waiter: Waiter;
  leadership: Leadership;
  linkedClaims: LinkedClaims;
  openClaims: OpenClaims;
  recentSuccesses: RecentSuccesses;
  /** See `Tx`. */
  notes: Map<string, unknown>;
}
