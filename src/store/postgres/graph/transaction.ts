import type { Session } from '../base/database.ts';
import type { TransactionEffects } from './effects.ts';
import type { Locks } from './locks.ts';

/** The state that the parts of one transaction share. */
export interface Transaction {
  session: Session;
  locks: Locks;
  effects: TransactionEffects;
}
