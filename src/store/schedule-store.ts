/**
 * Schedules and their ledger. Every step about a schedule holds the schedule's lock, from reading it and its unfinished runs
 * to the last row written: tick, run and cursor are written together or not at all.
 */

import type { Notify } from '../core/notify.ts';
import type { NewSchedule, Schedule, ScheduleChange } from '../core/schedule/schedule.ts';
import type { Run, RunState, Tick, TickKind, TickVerdict } from '../core/schedule/tick.ts';

export interface ScheduleStore {
  /** Creates a schedule whose ticks count from now. Throws `schedule_exists` if the name is taken. */
  createSchedule(schedule: NewSchedule, signal: AbortSignal): Promise<Schedule>;

  /**
   * Changes a schedule once every tick up to `at` has a verdict; a new timing, and each new key, starts from there. While
   * ticks lack a verdict, a call judges some of them by the unchanged schedule and changes nothing: call it again with the
   * `at` that it returned. Lines that would lose ticks by a new timing, another list of keys or the end of a pause are
   * judged even if they were postponed, and what cannot be started is `missed`. Otherwise as `tick`. Returns `undefined` if
   * there is no such schedule. Throws `schedule_invalid` if it would never fire; then nothing is changed or judged.
   */
  changeSchedule(name: string, request: ChangeRequest, signal: AbortSignal): Promise<ScheduleStep | undefined>;

  /** Deletes a schedule. Its runs go on; its ledger can no longer be read. Returns `false` if there is no such schedule. */
  deleteSchedule(name: string, signal: AbortSignal): Promise<boolean>;

  schedule(name: string, signal: AbortSignal): Promise<Schedule | undefined>;

  /** Returns schedules by name, beyond `after` if given. */
  schedules(
    filter: ScheduleFilter,
    page: { after: string | null; limit: number },
    signal: AbortSignal,
  ): Promise<Schedule[]>;

  /**
   * Runs the schedule's target for these instants and keys, paused or not, and writes a row of `kind` for each. Manual
   * runs that overlap are judged by the schedule's policy. A backfill leaves out instants that already have a run; its runs
   * of one key follow one another and unfinished runs of that key, unless the policy allows overlap. Returns the rows,
   * oldest first, or `undefined` if there is no such schedule. Idempotency as in `insert`.
   */
  runSchedule(
    name: string,
    request: RunRequest,
    options: { idempotency?: { key: string; fingerprint: string } },
    signal: AbortSignal,
  ): Promise<{ ticks: Tick[]; replayed: boolean } | undefined>;

  /** Returns the instants that have no run (by tick or backfill) of this key yet, or `undefined` if there is no such schedule. */
  ticksWithoutRun(
    name: string,
    request: { key: string; instants: readonly number[] },
    signal: AbortSignal,
  ): Promise<number[] | undefined>;

  /**
   * Judges due ticks: writes their verdicts, starts their runs, and advances the lines. Writes at most `limit` rows of the
   * ledger. Skips schedules that another call has locked. Never judges a tick twice. Postpones a line that cannot be
   * judged. A line that cannot be written is postponed if it is the only one of the call; among others it fails the call,
   * and then nothing is written.
   */
  tick(request: TickRequest, signal: AbortSignal): Promise<Ticked>;

  /** Records that the runs which these ticks replaced have been asked to stop. */
  stoppedOthers(tickIds: readonly number[], signal: AbortSignal): Promise<void>;

  /** Returns the ledger, newest first (id descending), below `before` if given; `undefined` if there is no such schedule. */
  ticks(
    name: string,
    filter: TickFilter,
    page: { before: number | null; limit: number },
    signal: AbortSignal,
  ): Promise<Tick[] | undefined>;

  /**
   * Returns the newest rows of the ledgers of these schedules, at most `each` of a schedule, newest first. Rows that were
   * judged before `from` are left out; so are unknown schedules.
   */
  recentTicks(
    request: { schedules: readonly string[]; from: number; each: number },
    signal: AbortSignal,
  ): Promise<(Tick & { schedule: string })[]>;

  /** Returns the state of the run of each of these ticks that has one. The outcome is kept when the run is pruned. */
  runStates(tickIds: readonly number[], signal: AbortSignal): Promise<(RunState & { tickId: number })[]>;

  /** Deletes up to `limit` rows of the ledger that were judged more than `keepMs` ago. Returns their number. */
  pruneTicks(keepMs: number, limit: number, signal: AbortSignal): Promise<number>;
}

export interface ScheduleFilter {
  owner?: string;
  /** Part of the name. */
  text?: string;
}

export interface TickFilter {
  key?: string;
  kind?: TickKind;
  verdict?: TickVerdict;
}

export interface RunRequest {
  /** A manual run's instant is now. */
  kind: 'manual' | 'backfill';
  /** `null`: all keys of the schedule. An unknown key throws `bad_request`. */
  keys: readonly string[] | null;
  /** The ticks of a backfill, rising. */
  instants: readonly number[];
  /** Targets that are notified of every schedule. */
  notify?: readonly Notify[];
}

export interface TickRequest {
  /** Rows of the ledger. */
  limit: number;
  /** Targets that are notified of every schedule. */
  notify?: readonly Notify[];
  /** The number of lines to judge at most; `limit` if not given. */
  lines?: number;
}

export interface ChangeRequest extends TickRequest {
  change: ScheduleChange;
  /** The instant of the change; `null`: now. */
  at: number | null;
}

export interface ScheduleStep extends Judged {
  /** The schedule as it is now. */
  schedule: Schedule;
  changed: boolean;
  at: number;
}

/** The result of judging due ticks. */
export interface Judged {
  /** The rows written, or added to. */
  ticks: (Tick & { schedule: string })[];
  /** The number of ticks by verdict. */
  counts: Partial<Record<TickVerdict, number>>;
  /** The number of started jobs by queue. */
  started: Record<string, number>;
  now: number;
  /**
   * Schedules that cannot be judged or written. They are tried again after `retryInMs`, which grows with every failure;
   * `null` if a change left no time for that: then what would have run is `missed`.
   */
  failed: { schedule: string; error: string; retryInMs: number | null }[];
}

export function nothingJudged(now: number): Judged {
  return { ticks: [], counts: {}, started: {}, now, failed: [] };
}

export interface Ticked extends Judged {
  /** When the next tick is due, by the store's clock; `null` if there is none. */
  nextDueAt: number | null;
  /** True if more ticks are due now. */
  more: boolean;
  /** Runs to be asked to stop because a tick replaced them, of this call and of earlier ones. */
  stop: { tickId: number; runs: readonly Run[] }[];
  /** Schedules that were due but locked by another call. */
  contended: { schedule: string; dueAt: number }[];
}
