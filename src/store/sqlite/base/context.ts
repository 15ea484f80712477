import type { Changes } from '../../hint.ts';
import type { GraphUpdate } from '../graph/graph-update.ts';
import type { Lanes } from '../jobs/lanes.ts';
import type { FairQueues } from '../jobs/turns.ts';
import type { Database } from './database.ts';

/** What a call works with inside its thread. */
export interface Context {
  database: Database;
  lanes: Lanes;
  fairQueues: FairQueues;
  /** The caller's time when the call was sent. */
  now: number;
  /** What the call changed, to be announced after the commit. */
  effects: Changes;
  /** What others have to do with it, in the same transaction. */
  graphUpdate: GraphUpdate;
}
