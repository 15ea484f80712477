/** Calls about schedules, to a scheduler in this process or a server behind HTTP. */

import type { BackfillRequestInput, Schedule, ScheduleDeclarationInput } from '../api/schedule.ts';
import type { Backfill, Tick } from '../api/tick.ts';

/** Calls on a schedule that does not exist reject with `schedule_not_found`. */
export interface ScheduleCalls {
  /** Creates the schedule, or changes it to match the declaration. One that matches already stays as it is. */
  put(name: string, declaration: ScheduleDeclarationInput, signal: AbortSignal): Promise<Schedule>;
  read(name: string, signal: AbortSignal): Promise<Schedule>;
  /** Returns all schedules, ordered by name. */
  list(signal: AbortSignal): Promise<Schedule[]>;
  next(name: string, count: number, signal: AbortSignal): Promise<Date[]>;
  pause(name: string, note: string | undefined, signal: AbortSignal): Promise<Schedule>;
  resume(name: string, signal: AbortSignal): Promise<Schedule>;
  remove(name: string, signal: AbortSignal): Promise<void>;
  /** Runs it once for each of these keys, or for all its keys if `keys` is `undefined`. */
  run(name: string, keys: readonly string[] | undefined, signal: AbortSignal): Promise<Tick[]>;
  backfill(name: string, request: BackfillRequestInput, signal: AbortSignal): Promise<Backfill>;
  /** Returns the ledger, newest first. */
  ticks(name: string, limit: number, signal: AbortSignal): Promise<Tick[]>;
}
