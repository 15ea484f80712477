/** The library's calls about schedules: to a scheduler in this process, or to one behind HTTP. */

import type { BackfillRequestInput, Schedule, ScheduleDeclarationInput } from '../api/schedule.ts';
import type { Backfill, Tick } from '../api/tick.ts';

/** Each rejects with `schedule_not_found` where nobody has made it. */
export interface ScheduleCalls {
  /** Makes it what is said; one that is so already is left alone. */
  put(name: string, declaration: ScheduleDeclarationInput, signal: AbortSignal): Promise<Schedule>;
  read(name: string, signal: AbortSignal): Promise<Schedule>;
  /** All of them, by name. */
  list(signal: AbortSignal): Promise<Schedule[]>;
  next(name: string, count: number, signal: AbortSignal): Promise<Date[]>;
  pause(name: string, note: string | undefined, signal: AbortSignal): Promise<Schedule>;
  resume(name: string, signal: AbortSignal): Promise<Schedule>;
  remove(name: string, signal: AbortSignal): Promise<void>;
  /** One for each of these keys; without any, for each that it has. */
  run(name: string, keys: readonly string[] | undefined, signal: AbortSignal): Promise<Tick[]>;
  backfill(name: string, request: BackfillRequestInput, signal: AbortSignal): Promise<Backfill>;
  /** The ledger, newest first. */
  ticks(name: string, limit: number, signal: AbortSignal): Promise<Tick[]>;
}
