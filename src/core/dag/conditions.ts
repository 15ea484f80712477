/** What a child may ask of a parent's end, and whether it got it. */

import type { TerminalStatus } from '../job.ts';

export const CONDITIONS = ['success', 'failure', 'ended'] as const;
export type Condition = (typeof CONDITIONS)[number];

/** Of one dependency: its parent has not ended, ended as asked, or ended otherwise. */
export const EDGE_STATES = ['open', 'held', 'impossible'] as const;
export type EdgeState = (typeof EDGE_STATES)[number];
export type ClosedEdgeState = Exclude<EdgeState, 'open'>;

const SATISFIES: Readonly<Record<TerminalStatus, readonly Condition[]>> = {
  done: ['success', 'ended'],
  failed: ['failure', 'ended'],
  cancelled: ['ended'],
  skipped: ['ended'],
};

/** Whether a dependency with this condition holds, now that its parent has ended. */
export function meetCondition(condition: Condition, parentEnd: TerminalStatus): ClosedEdgeState {
  return SATISFIES[parentEnd].includes(condition) ? 'held' : 'impossible';
}

/** The end that children and workflow see: the failure of a step that may fail counts as success. */
export function countedEnd(end: TerminalStatus, continueOnFailure: boolean): TerminalStatus {
  return end === 'failed' && continueOnFailure ? 'done' : end;
}
