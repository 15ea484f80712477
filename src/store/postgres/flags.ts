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
} as const;

/** With none of these, a job's end concerns nobody else: it is one statement. */
export const LINKED = FLAG.hasChildren | FLAG.group | FLAG.inWorkflow | FLAG.item;

/** With one of these, a job is told of those around it when it is claimed. */
export const SURROUNDED = FLAG.inWorkflow | FLAG.hasParents | FLAG.item;
