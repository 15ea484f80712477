import { type Notify, watchOf } from '../../../core/notify.ts';

/** The bits of `live.flags`: what else has to be looked at when something becomes of a job. */
export const FLAG = {
  hasChildren: 1,
  /** It is a group: its items run, it never does. */
  group: 2,
  inWorkflow: 4,
  /** It holds a unique key which its claim or its end lets go of. */
  holdsKey: 8,
  hasParents: 16,
  item: 32,
  /** It was asked to stop, and those who wait for it were not meant. */
  quiet: 64,
  /** Somebody wants to be told if it fails, or if it is done. */
  tellsFailure: 128,
  tellsSuccess: 256,
  /** It must not wait at a worker: no claim takes it ahead. */
  startsAtOnce: 512,
  /** Submitted in a transaction of the application's own, and not judged since. */
  unjudged: 1024,
  /** Known to have no start timeout: its end need not be looked up when it is freed. */
  startsAnyTime: 2048,
} as const;

/** With none of these, a job's end concerns nobody else: it is one statement. */
export const LINKED = FLAG.hasChildren | FLAG.group | FLAG.inWorkflow | FLAG.item | FLAG.tellsSuccess;

/** With one of these, a job is told of those around it when it is claimed. */
export const SURROUNDED = FLAG.inWorkflow | FLAG.hasParents | FLAG.item;

/** Those that follow from whom a job tells of its end. */
export function watchFlags(notify: readonly Notify[]): number {
  if (notify.length === 0) return 0;
  const { failures, successes } = watchOf(notify);
  return (failures ? FLAG.tellsFailure : 0) | (successes ? FLAG.tellsSuccess : 0);
}
