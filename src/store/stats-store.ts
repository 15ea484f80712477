/** Statistics and bulk operations. */

import type { NewOperation, Operation, OperationStep } from '../core/operation.ts';
import type { StatRow } from '../core/stats.ts';

export interface StatsStore {
  /** Adds to the rows of these minutes. */
  addStats(rows: readonly StatRow[], signal: AbortSignal): Promise<void>;

  /** Rows of minutes in [from, to), by minute, queue and outcome, summed over instances (`instanceId` is empty). */
  stats(range: { from: number; to: number }, signal: AbortSignal): Promise<StatRow[]>;

  createOperation(operation: NewOperation, signal: AbortSignal): Promise<Operation>;
  operation(id: number, signal: AbortSignal): Promise<Operation | undefined>;
  /** Those that have not ended, oldest first. */
  openOperations(signal: AbortSignal): Promise<Operation[]>;
  /** Moves an operation on, adding to its counts, if it has not ended and its cursor is still `from`; `false` where another instance was faster. */
  advanceOperation(id: number, from: number | null, step: OperationStep, signal: AbortSignal): Promise<boolean>;
}
