/** The conditions on edges, and which ends of a parent satisfy them. */

import type { TerminalStatus } from '../job.ts';

export const CONDITIONS = ['success', 'failure', 'ended'] as const;
export type Condition = (typeof CONDITIONS)[number];

/** The state of an edge: its parent has not ended, its condition holds, or its condition can no longer hold. */
export type EdgeState = 'open' | 'held' | 'impossible';
export type ClosedEdgeState = Exclude<EdgeState, 'open'>;

/** The ends of a parent that satisfy each condition. PostgreSQL's statements are built from this table, too. */
export const SATISFIED_BY: Readonly<Record<Condition, readonly TerminalStatus[]>> = {
  success: ['done'],
  failure: ['failed'],
  ended: ['done', 'failed', 'cancelled', 'skipped'],
};

/** Returns the state of an edge. `parentEnd` is the parent's counted end, `null` while it has not ended. */
export function edgeStateFor(condition: Condition, parentEnd: TerminalStatus | null): EdgeState {
  if (parentEnd === null) return 'open';
  return SATISFIED_BY[condition].includes(parentEnd) ? 'held' : 'impossible';
}

/** The end that children and workflow see: the failure of a step with `continue_on_failure` counts as success. */
export function countedEnd(end: TerminalStatus, continueOnFailure: boolean): TerminalStatus {
  return end === 'failed' && continueOnFailure ? 'done' : end;
}
