/** Statistics and bulk operations. */

import type { NewOperation, Operation, OperationStep } from '../core/operation.ts';
import type { StatRow } from '../core/stats.ts';

export interface StatsStore {
  /** Adds to the rows of these minutes. */
  addStats(rows: readonly StatRow[], signal: AbortSignal): Promise<void>;

  /** Returns rows of minutes in [from, to), by minute, queue and outcome, summed over instances (`instanceId` is empty). */
  stats(range: { from: number; to: number }, signal: AbortSignal): Promise<StatRow[]>;

  createOperation(operation: NewOperation, signal: AbortSignal): Promise<Operation>;
  operation(id: number, signal: AbortSignal): Promise<Operation | undefined>;
  /** Returns operations that have not ended, oldest first. */
  openOperations(signal: AbortSignal): Promise<Operation[]>;
  /** Advances an operation and adds to its counts. Returns `false` if it has ended, or if another instance moved its cursor from `from`. */
  advanceOperation(id: number, from: number | null, step: OperationStep, signal: AbortSignal): Promise<boolean>;
}
