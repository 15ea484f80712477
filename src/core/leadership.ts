/** Leadership of duties: terms, fences and the state of each duty. */

import type { Duty } from './duty.ts';

/** Allows a leader to write as long as the duty is in this term. */
export interface TermFence {
  duty: Duty;
  term: number;
}

export interface DutyState {
  duty: Duty;
  /** Raised each time that the duty changes hands. */
  term: number;
  /** The leader in this term. */
  instanceId: string;
  expiresAt: number;
  /** True if the term has ended: the duty has no leader. */
  over: boolean;
  /** True if the leader holds the duty's session lock; else it leads by its row alone. */
  locked: boolean;
  /** The key of the session lock; `null` if the store has none. */
  lockKey: readonly [space: number, number: number] | null;
}
