/** What a scheduler can do about schedules. */

import type { NewSchedule, Schedule, ScheduleEdit } from '../../core/schedule/schedule.ts';
import type { Tick } from '../../core/schedule/tick.ts';
import type { ScheduleFilter, TickFilter } from '../../store/schedule-store.ts';

export interface SchedulePage {
  /** By name. */
  items: Schedule[];
  /** Pass as `after` for the next page; `null` at the end. */
  nextAfter: string | null;
}

export interface TickPage {
  /** Newest first. */
  items: Tick[];
  /** Pass as `before` for the next page; `null` at the end. */
  nextBefore: number | null;
}

export interface BackfillRequest {
  /** Ticks in [from, to); `to` is not later than now. */
  from: number;
  to: number;
  /** `null`: all keys of the schedule. */
  keys: readonly string[] | null;
  /** Tells what would run, and runs nothing. */
  dryRun: boolean;
}

export interface Backfilled {
  /** Ticks of the range that had no run, oldest first. */
  missing: { key: string; scheduledFor: number }[];
  /** Their rows; none in a dry run. */
  ticks: Tick[];
  replayed: boolean;
}

interface Options {
  idempotency?: { key: string; fingerprint: string };
}

/** A name that no schedule has throws `schedule_not_found`. */
export interface Schedules {
  /** Throws `schedule_invalid` for what cannot be read or never fires, `schedule_exists` for a name that is taken. */
  createSchedule(schedule: NewSchedule, signal: AbortSignal): Promise<Schedule>;
  schedule(name: string, signal: AbortSignal): Promise<Schedule>;
  schedules(
    filter: ScheduleFilter,
    page: { after: string | null; limit: number },
    signal: AbortSignal,
  ): Promise<SchedulePage>;
  /** A new timing starts from now; ticks that were due before are judged by the old one. */
  editSchedule(name: string, edit: ScheduleEdit, signal: AbortSignal): Promise<Schedule>;
  /** Its runs go on. One made again under its name begins with an empty ledger. */
  deleteSchedule(name: string, signal: AbortSignal): Promise<void>;
  /** Ticks from now on are `paused`, and are not caught up. */
  pauseSchedule(name: string, note: string | null, signal: AbortSignal): Promise<Schedule>;
  resumeSchedule(name: string, signal: AbortSignal): Promise<Schedule>;
  /**
   * Runs it now, paused or not, for these keys (`null`: all). What overlaps is judged by its policy; where that lets
   * nothing run, throws `illegal_transition`.
   */
  runSchedule(
    name: string,
    request: { keys: readonly string[] | null },
    options: Options,
    signal: AbortSignal,
  ): Promise<{ ticks: Tick[]; replayed: boolean }>;
  /** Makes up for ticks that have no run, at most `MAX_BACKFILLED` at a time; more throw `bad_request`. */
  backfillSchedule(name: string, request: BackfillRequest, options: Options, signal: AbortSignal): Promise<Backfilled>;
  /** The next `count` ticks from now on, whether it is paused or not. */
  nextTicks(name: string, count: number, signal: AbortSignal): Promise<{ timezone: string; ticks: number[] }>;
  ticks(
    name: string,
    filter: TickFilter,
    page: { before: number | null; limit: number },
    signal: AbortSignal,
  ): Promise<TickPage>;
}
