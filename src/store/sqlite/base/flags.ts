/** What `live.flags` tells of a job. */

import { type Notify, watchOf } from '../../../core/notify.ts';

export const HAS_CHILDREN = 1;
export const IS_GROUP = 2;
export const IN_WORKFLOW = 4;
export const HOLDS_KEY = 8;
export const HAS_PARENTS = 16;
export const IS_ITEM = 32;
/** Asked to stop without those who wait for it. */
export const IS_QUIET = 64;
/** Somebody wants to be told if it fails, or if it is done. */
export const TELLS_FAILURE = 128;
export const TELLS_SUCCESS = 256;

/** Submitted in a transaction of the application's own, and not judged since. */
export const UNJUDGED = 1024;

/** Known to have no start timeout: its end need not be looked up when it is freed. */
export const STARTS_ANY_TIME = 2048;

/** The end of a job with one of these changes other rows than its own. */
export const TOUCHES_OTHERS = HAS_CHILDREN | IN_WORKFLOW | IS_ITEM | TELLS_SUCCESS;

/** A job with one of these is claimed with its runContext. */
export const HAS_SURROUNDINGS = IN_WORKFLOW | HAS_PARENTS | IS_ITEM;

/** Of a step, not of its items. */
export function isStep(flags: number): boolean {
  return (flags & IN_WORKFLOW) !== 0 && (flags & IS_ITEM) === 0;
}

export function watchFlags(notify: readonly Notify[]): number {
  if (notify.length === 0) return 0;
  const { failures, successes } = watchOf(notify);
  return (failures ? TELLS_FAILURE : 0) | (successes ? TELLS_SUCCESS : 0);
}
