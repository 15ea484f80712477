/** The tick: one instant at which a line was due, and its verdict. */

import type { Status } from '../job.ts';

export const TICK_KINDS = ['tick', 'manual', 'backfill'] as const;
/** The origin of a tick: due by the clock, started by a user, or a past tick that a user backfilled. */
export type TickKind = (typeof TICK_KINDS)[number];

export const TICK_VERDICTS = ['ran', 'skipped_overlap', 'missed', 'dropped', 'paused'] as const;
export type TickVerdict = (typeof TICK_VERDICTS)[number];

/** The job or workflow that was started for a tick. Exactly one is set. */
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
  /** The first and the last of `count` neighbouring ticks with this verdict; equal if there is one. */
  scheduledFor: number;
  through: number;
  count: number;
  verdict: TickVerdict;
  /** How long after `scheduledFor` it was judged; `null` if it did not run. */
  latenessMs: number | null;
  /** When it was judged. */
  createdAt: number;
}

/** The state of the run of a tick: a job or a workflow. */
export interface RunState {
  status: Status;
  /** `null` if it has not started, or if retention has deleted the run. */
  startedAt: number | null;
  endedAt: number | null;
}

/** The tick of a schedule that a job runs for, as the job sees it. */
export interface TickOfJob {
  /** The schedule's name and the line's id. */
  schedule: string;
  line: number;
  /** `null` for a schedule without `forEach`. */
  key: string | null;
  kind: TickKind;
  scheduledFor: number;
  /** The interval from the previous tick to this one. */
  intervalStart: number;
  intervalEnd: number;
  /** True if it started so late that it counts as a catch-up. */
  catchup: boolean;
}
