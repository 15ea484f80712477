/** What a schedule is: when something is due, what then runs, and what becomes of ticks that collide or come late. */

import type { ListedWorkflow } from '../dag/new-workflow.ts';
import type { JobSpec } from '../job.ts';
import type { Notify } from '../notify.ts';
import type { Catchup } from './plan-ticks.ts';
import type { TickVerdict } from './tick.ts';

export const OVERLAP_POLICIES = ['skip', 'buffer_one', 'allow', 'cancel_other'] as const;
/** What becomes of a tick while a run of the same schedule and key has not ended. */
export type OverlapPolicy = (typeof OVERLAP_POLICIES)[number];

export const SCHEDULE_NAME = /^[a-z0-9._-]{1,128}$/;
/** More keys than this are several schedules. */
export const MAX_KEYS = 10_000;
/** Ticks that one backfill may make up for. */
export const MAX_BACKFILLED = 1_000;

/** What runs at each tick. */
export type Target = { job: JobSpec } | { workflow: Omit<ListedWorkflow, 'rerunOf'> };

export interface ScheduleSpec {
  /** Exactly one of `cron` and `everyMs` is set. */
  cron: string | null;
  everyMs: number | null;
  /** From which `everyMs` is counted. */
  anchor: number;
  /** An IANA name; also the zone in which people are told of ticks. */
  timezone: string;
  overlap: OverlapPolicy;
  catchup: Catchup;
  /** Runs are spread over so long after their tick; 0: not at all. */
  jitterMs: number;
  /** Ticks from this instant on (included), and before that one (excluded). */
  startAt: number | null;
  endAt: number | null;
  /** Each tick is one for each of these; `null`: there is only one. */
  forEach: readonly string[] | null;
  target: Target;
  /** Who is told of its runs and of those that it missed, beside what its target says itself. */
  notify?: readonly Notify[];
}

export interface NewSchedule extends ScheduleSpec {
  name: string;
  /** Who keeps it, for `workron apply`; `null`: nobody in particular. */
  owner: string | null;
}

export interface Schedule extends NewSchedule {
  /** Of its own, so that one deleted and made again does not meet its old ledger. */
  id: number;
  createdAt: number;
  updatedAt: number;
  pausedAt: number | null;
  pausedNote: string | null;
  /** The next tick; `null` where it is paused, or over. */
  nextRun: number | null;
  /** The newest tick that ran, of any kind. */
  lastRun: number | null;
  /** Of the newest tick that was judged. */
  lastVerdict: TickVerdict | null;
  /** Of the newest run. */
  lastJobId: number | null;
  lastWorkflowId: number | null;
}

/** A new timing starts from now, and so does a new key; ticks that were due before are judged by the old one. */
export type ScheduleEdit = Partial<ScheduleSpec & Pick<NewSchedule, 'owner'>>;

export type ScheduleChange =
  | { type: 'edit'; edit: ScheduleEdit }
  /** Twice is fine: the first instant stands, the last note. */
  | { type: 'pause'; note: string | null }
  | { type: 'resume' };
