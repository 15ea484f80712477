/**
 * The part of a store that keeps schedules and their ledger. As for the rest of it: one method is one atomic step, and
 * the store's clock decides. Every step about a schedule is taken under its lock, from the look at what it is and what
 * it has running to the last row written: tick, run and cursor are written together or not at all.
 */

import type { Notify } from '../core/notify.ts';
import type { NewSchedule, Schedule, ScheduleChange } from '../core/schedule/schedule.ts';
import type { Run, Tick, TickKind, TickVerdict } from '../core/schedule/tick.ts';

export interface ScheduleStore {
  /** Its ticks count from now. A name that is taken throws `schedule_exists`. */
  createSchedule(schedule: NewSchedule, signal: AbortSignal): Promise<Schedule>;

  /**
   * Changes it, once no tick up to `at` is without a verdict; a new timing, and each new key, starts from there. While one
   * is, a call judges some of them by what the schedule is, and changes nothing: it is to be called again, with the `at`
   * that it answered. Lines that a new timing, another list of keys or the end of a pause would take their ticks from are
   * judged though they were postponed, and what cannot be started is `missed`. In all else as `tick`. `undefined`: no such
   * schedule. Throws `schedule_invalid` where it would never fire, and changes and judges nothing.
   */
  changeSchedule(name: string, request: ChangeRequest, signal: AbortSignal): Promise<ScheduleStep | undefined>;

  /** Its runs go on; its ledger is out of reach. `false`: no such schedule. */
  deleteSchedule(name: string, signal: AbortSignal): Promise<boolean>;

  schedule(name: string, signal: AbortSignal): Promise<Schedule | undefined>;

  /** By name, beyond `after` where given. */
  schedules(
    filter: ScheduleFilter,
    page: { after: string | null; limit: number },
    signal: AbortSignal,
  ): Promise<Schedule[]>;

  /**
   * Runs for these instants and keys what the schedule runs, whether it is paused or not, and writes a row of `kind` for
   * each. By hand: what overlaps is judged by the schedule's policy. Backfill: an instant that has a run already is left
   * out; runs of one key follow one another and whatever of it is unfinished, unless the policy allows overlap. Answers
   * with the rows, oldest first. Idempotency as in `insert`. `undefined`: no such schedule.
   */
  runSchedule(
    name: string,
    request: RunRequest,
    options: { idempotency?: { key: string; fingerprint: string } },
    signal: AbortSignal,
  ): Promise<{ ticks: Tick[]; replayed: boolean } | undefined>;

  /** Which of these instants have no run (by tick or backfill) of this key yet, oldest first. `undefined`: no such schedule. */
  ticksWithoutRun(
    name: string,
    request: { key: string; instants: readonly number[] },
    signal: AbortSignal,
  ): Promise<number[] | undefined>;

  /**
   * Judges ticks that are due: writes their verdicts, starts what runs, and moves on. Writes at most `limit` rows of the
   * ledger. What another call is at work on is left to it. Never judges a tick twice. A line that cannot be judged is put
   * off. So is one that cannot be written, where it is the only one; among others it may fail the call, and then nothing is
   * written.
   */
  tick(request: TickRequest, signal: AbortSignal): Promise<Ticked>;

  /** The runs that these ticks replaced have been asked to stop. */
  stoppedOthers(tickIds: readonly number[], signal: AbortSignal): Promise<void>;

  /** The ledger, newest first (id descending), below `before` where given. `undefined`: no such schedule. */
  ticks(
    name: string,
    filter: TickFilter,
    page: { before: number | null; limit: number },
    signal: AbortSignal,
  ): Promise<Tick[] | undefined>;

  /** Deletes up to `limit` rows of the ledger that were judged longer ago than `keepMs`. Answers with how many. */
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
  /** By hand the instant is now. */
  kind: 'manual' | 'backfill';
  /** Those that are no keys of the schedule throw `bad_request`; `null`: all of its keys. */
  keys: readonly string[] | null;
  /** Of a backfill: ticks to make up for, rising. */
  instants: readonly number[];
  /** Who wants to hear of every schedule. */
  notify?: readonly Notify[];
}

export interface TickRequest {
  /** Rows of the ledger. */
  limit: number;
  /** Who wants to hear of every schedule. */
  notify?: readonly Notify[];
  /** Lines to judge at most; as many as rows unless told otherwise. */
  lines?: number;
}

export interface ChangeRequest extends TickRequest {
  change: ScheduleChange;
  /** The instant of the change; `null`: now. */
  at: number | null;
}

export interface ScheduleStep extends Judged {
  /** As it is now. */
  schedule: Schedule;
  changed: boolean;
  at: number;
}

/** What became of ticks that were due. */
export interface Judged {
  /** The rows written, or added to. */
  ticks: (Tick & { schedule: string })[];
  /** How many ticks were judged so. */
  counts: Partial<Record<TickVerdict, number>>;
  /** How many jobs were put into each queue. */
  started: Record<string, number>;
  now: number;
  /**
   * Schedules that cannot be judged or written; they are tried again after a time that grows with every failure. `null`:
   * they are not, as a change left no time for it; what would have run is `missed`.
   */
  failed: { schedule: string; error: string; retryInMs: number | null }[];
}

export function nothingJudged(now: number): Judged {
  return { ticks: [], counts: {}, started: {}, now, failed: [] };
}

export interface Ticked extends Judged {
  /** When the next tick is due, by the store's clock; `null`: none is. */
  nextDueAt: number | null;
  /** There is more that is due now. */
  more: boolean;
  /** Runs that are to be asked to stop because a tick replaced them: of this call, and what earlier ones left undone. */
  stop: { tickId: number; runs: readonly Run[] }[];
  /** Schedules that were due, but that another call was at work on. */
  contended: { schedule: string; dueAt: number }[];
}
