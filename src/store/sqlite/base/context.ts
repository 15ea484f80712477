import type { GraphUpdate } from '../../engine/graph/graph-update.ts';
import type { Changes } from '../../hint.ts';
import type { LaneHeads } from '../jobs/lane-heads.ts';
import type { Lanes } from '../jobs/lanes.ts';
import type { FairQueues } from '../jobs/turns.ts';
import type { Database } from './database.ts';

/** The database, the caches and the pending effects of a call inside its thread. */
export interface Context {
  database: Database;
  lanes: Lanes;
  heads: LaneHeads;
  fairQueues: FairQueues;
  /** See `Tx`. */
  notes: Map<string, unknown>;
  /** The caller's time when the call was sent. */
  now: number;
  /** Changes to announce after the commit. */
  effects: Changes;
  /** Effects on other jobs, written at the end of the call. */
  graphUpdate: GraphUpdate;
}
