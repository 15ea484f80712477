/** One instant at which a schedule was due, for one of its keys, and what became of it. */

export const TICK_KINDS = ['tick', 'manual', 'backfill'] as const;
/** Due by the clock, asked for by a person, or a past tick that a person made up for. */
export type TickKind = (typeof TICK_KINDS)[number];

export const TICK_VERDICTS = ['ran', 'skipped_overlap', 'missed', 'dropped', 'paused'] as const;
export type TickVerdict = (typeof TICK_VERDICTS)[number];

/** A job or a workflow that was started for a tick. Exactly one of the two is set. */
export interface Run {
  jobId: number | null;
  workflowId: number | null;
}

/** A row of the ledger. */
export interface Tick extends Run {
  id: number;
  scheduleId: number;
  kind: TickKind;
  /** '' for a schedule without `forEach`. */
  key: string;
  /** The first and the last of `count` neighbouring ticks with this verdict; equal where it is one. */
  scheduledFor: number;
  through: number;
  count: number;
  verdict: TickVerdict;
  /** How long after `scheduledFor` it was judged; `null` where it did not run. */
  latenessMs: number | null;
  /** When it was judged. */
  createdAt: number;
}

/** What a job is told of the tick that it runs for. */
export interface TickOfJob {
  /** The schedule's name, and the id of what it does for this key. */
  schedule: string;
  line: number;
  /** `null` for a schedule without `forEach`. */
  key: string | null;
  kind: TickKind;
  scheduledFor: number;
  /** From the tick before to this one. */
  intervalStart: number;
  intervalEnd: number;
  /** It started so late that it makes up for something. */
  catchup: boolean;
}
