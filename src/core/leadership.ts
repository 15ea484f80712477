/** Who leads a duty: terms, fences and the state of each. */

import type { Duty } from './duty.ts';

/** A leader's right to write: as long as the duty's term is this one. */
export interface TermFence {
  duty: Duty;
  term: number;
}

export interface DutyState {
  duty: Duty;
  /** Raised whenever the duty is taken. */
  term: number;
  /** Who leads in this term. */
  instanceId: string;
  expiresAt: number;
  /** Nobody leads: the term has ended. */
  over: boolean;
  /** The leader holds the duty's session lock; else its row alone says that it leads. */
  locked: boolean;
  /** Of the session lock; `null` where the store has none. */
  lockKey: readonly [space: number, number: number] | null;
}
