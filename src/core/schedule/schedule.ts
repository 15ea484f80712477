/** The schedule: when it is due, what it runs, and what happens to ticks that overlap or are late. */

import type { DefinitionUse } from '../dag/definition.ts';
import type { ListedWorkflow } from '../dag/new-workflow.ts';
import type { JobSpec } from '../job.ts';
import type { Notify } from '../notify.ts';
import type { EnvValue } from '../secret.ts';
import type { Catchup } from './plan-ticks.ts';
import type { TickVerdict } from './tick.ts';

export const OVERLAP_POLICIES = ['skip', 'buffer_one', 'allow', 'cancel_other'] as const;
/** Decides what happens to a tick while a run of the same line is unfinished. */
export type OverlapPolicy = (typeof OVERLAP_POLICIES)[number];

export const SCHEDULE_NAME = /^[a-z0-9._-]{1,128}$/;
/** The maximum number of keys of one schedule. */
export const MAX_KEYS = 10_000;
/** The maximum number of ticks in one backfill. */
export const MAX_BACKFILLED = 1_000;

/** The job or workflow that runs at each tick. */
export type Target = { job: JobSpec } | { workflow: Omit<ListedWorkflow, 'rerunOf'> };

export interface ScheduleSpec {
  /** Exactly one of `cron` and `everyMs` is set. */
  cron: string | null;
  everyMs: number | null;
  /** The instant from which `everyMs` is counted. */
  anchor: number;
  /** An IANA name. Ticks are also shown in this zone. */
  timezone: string;
  overlap: OverlapPolicy;
  catchup: Catchup;
  /** Runs are spread over this time after their tick; 0: not at all. */
  jitterMs: number;
  /** Ticks at `startAt` or later and before `endAt`. */
  startAt: number | null;
  endAt: number | null;
  /** The keys of the schedule, each with ticks of its own; `null`: the schedule has one line without a key. */
  forEach: readonly string[] | null;
  target: Target;
  /** The stored definition that the workflow of `target` was made from. */
  uses?: DefinitionUse | null;
  /** The notify targets of its runs and missed ticks, in addition to the targets of the job or workflow. */
  notify?: readonly Notify[];
}

export interface NewSchedule extends ScheduleSpec {
  name: string;
  /** The owner of the schedule, for `workron apply`; `null`: none. */
  owner: string | null;
}

export interface Schedule extends NewSchedule {
  /** A schedule that is deleted and created again gets another id, and so a ledger of its own. */
  id: number;
  createdAt: number;
  updatedAt: number;
  pausedAt: number | null;
  pausedNote: string | null;
  /** The next tick; `null` if it is paused or has no more ticks. */
  nextRun: number | null;
  /** The newest tick that ran, of any kind. A backfill of older ticks does not change it. */
  lastRun: number | null;
  /** The verdict of the newest tick. */
  lastVerdict: TickVerdict | null;
  /** The job or workflow of `lastRun`. */
  lastJobId: number | null;
  lastWorkflowId: number | null;
}

/** Fields of the scheduled job that change. Variables are changed by name: `null` removes one, or all. */
export type ScheduledJobEdit = Partial<Omit<JobSpec, 'env'>> & {
  env?: Readonly<Record<string, EnvValue | null>> | null;
};

/** A new timing and new keys start now; ticks that were due before are judged by the old timing. */
export type ScheduleEdit = Partial<ScheduleSpec & Pick<NewSchedule, 'owner'>> & {
  /** Changes the job that the schedule runs; `target` replaces it. */
  job?: ScheduledJobEdit;
};

export type ScheduleChange =
  | { type: 'edit'; edit: ScheduleEdit }
  /** Pausing again keeps the first instant and takes the last note. */
  | { type: 'pause'; note: string | null }
  | { type: 'resume' };
