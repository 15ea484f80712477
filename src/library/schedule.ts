/** Schedules of an application's own jobs. */

import type { BackfillRequestInput, Schedule, ScheduleDeclarationInput } from '../api/schedule.ts';
import type { Backfill, Tick } from '../api/tick.ts';
import { NEVER } from '../core/never.ts';
import type { CatchupPolicy } from '../core/schedule/plan-ticks.ts';
import type { OverlapPolicy } from '../core/schedule/schedule.ts';
import type { Engine } from './engine.ts';
import { Handle } from './handle.ts';
import type { JobType } from './job.ts';
import { type Notify, notifyToWire } from './notify.ts';
import { type Duration, type JobOptions, type SubmitOptions, templateOf } from './options.ts';

/** By the clock of a zone, or once in so long. */
export type ScheduleTiming =
  | { cron: string; every?: undefined; anchor?: undefined }
  /** Counted from `anchor`, 1970-01-01T00:00:00Z unless told otherwise. */
  | { every: Duration; anchor?: Date | string; cron?: undefined };

export interface ScheduleRules {
  /** An IANA name; `UTC`. */
  timezone?: string;
  /** Of a tick while an earlier run has not ended; `skip`. */
  overlap?: OverlapPolicy;
  /** Of ticks that nobody was there for: the `latest` if it is less than an hour ago. */
  catchup?: { policy?: CatchupPolicy; window?: Duration; max?: number };
  /** Runs are spread over so long, each schedule and key at its own fixed place. */
  jitter?: Duration;
  /** Ticks from then on (included), and before then (excluded). */
  startAt?: Date | string;
  endAt?: Date | string;
  /** Each tick is one for each of these keys, which a run finds as `tick.key`. */
  forEach?: readonly string[];
  /** Who is told of its runs, and of those that it missed. */
  notify?: readonly Notify[];
}

/** What a run may have of its own beside the options of its job. */
export interface ScheduledOptions extends JobOptions, Pick<SubmitOptions, 'name' | 'fairKey' | 'env'> {}

export type JobSchedule<Input, Result> = ScheduleTiming &
  ScheduleRules & {
    job: JobType<Input, Result>;
    options?: ScheduledOptions;
  } & (undefined extends Input ? { input?: NoInfer<Input> } : { input: NoInfer<Input> });

/** A shell line, for workers that run commands. */
export type CommandSchedule = ScheduleTiming & ScheduleRules & { command: string; options?: ScheduledOptions };

export interface BackfillOptions {
  /** Ticks from then on (included). */
  from: Date | string;
  /** Ticks before then; not later than now. */
  to: Date | string;
  /** Only for these keys of `forEach`. */
  keys?: readonly string[];
  /** Tell what would run, and run nothing. */
  dryRun?: boolean;
}

/** A schedule, to be looked at, run, stopped or removed. Each call rejects with `schedule_not_found` where it is gone. */
export class ScheduleHandle<Result = unknown> {
  readonly name: string;
  readonly #engine: Engine;

  constructor(engine: Engine, name: string) {
    this.#engine = engine;
    this.name = name;
  }

  /** As it is now: its rules, its next tick, what became of the last one. */
  schedule(): Promise<Schedule> {
    return this.#engine.schedules.read(this.name, NEVER);
  }

  /** When it is due next, whether it is paused or not. */
  next(count = 10): Promise<Date[]> {
    return this.#engine.schedules.next(this.name, count, NEVER);
  }

  /** The ledger, newest first: every tick, and what became of it. */
  ticks({ limit = 50 }: { limit?: number } = {}): Promise<Tick[]> {
    return this.#engine.schedules.ticks(this.name, limit, NEVER);
  }

  /** Ticks from now on do not run, and are not caught up. `note` is for whoever finds it paused. */
  pause(note?: string): Promise<Schedule> {
    return this.#engine.schedules.pause(this.name, note, NEVER);
  }

  resume(): Promise<Schedule> {
    return this.#engine.schedules.resume(this.name, NEVER);
  }

  /**
   * Runs it now, paused or not; answers with the run, or with one for each key. Rejects with `illegal_transition` where an
   * earlier run has not ended and its overlap policy lets no other start.
   */
  async run({ keys }: { keys?: readonly string[] } = {}): Promise<Handle<Result>[]> {
    const ticks = await this.#engine.schedules.run(this.name, keys, NEVER);
    return ticks.flatMap(({ job_id: id }) => (id === null ? [] : [new Handle<Result>(this.#engine, id)]));
  }

  /** Makes up for past ticks that have no run. */
  backfill({ from, to, keys, dryRun }: BackfillOptions): Promise<Backfill> {
    const request: BackfillRequestInput = {
      from: instantOf(from),
      to: instantOf(to),
      ...(keys === undefined ? {} : { keys: [...keys] }),
      ...(dryRun === undefined ? {} : { dry_run: dryRun }),
    };
    return this.#engine.schedules.backfill(this.name, request, NEVER);
  }

  /** Its runs go on. One made again under its name begins with an empty ledger. */
  remove(): Promise<void> {
    return this.#engine.schedules.remove(this.name, NEVER);
  }
}

/** As it goes over the wire; `input` has been checked. */
export function declarationOf(
  { job, command, options = {}, ...rules }: AnySchedule,
  input: unknown,
): ScheduleDeclarationInput {
  const target =
    job === undefined
      ? templateOf({ command: command as string }, options)
      : { ...templateOf({ handler: job.name }, job.options, options), input };
  const wire: Record<string, unknown> = { job: target };
  for (const [property, value] of Object.entries(rules)) {
    // What is not known goes on under its own name, to be refused with a suggestion.
    if (value !== undefined && property !== 'input') wire[FIELDS[property] ?? property] = encode(property, value);
  }
  return wire;
}

/** Either kind, for those who only pass it on. */
export type AnySchedule = ScheduleTiming &
  ScheduleRules & { job?: JobType; command?: string; options?: ScheduledOptions; input?: unknown };

const FIELDS: Readonly<Record<string, string>> = { startAt: 'start_at', endAt: 'end_at', forEach: 'for_each' };

function encode(property: string, value: unknown): unknown {
  if (property === 'notify') return notifyToWire(value as readonly Notify[]);
  return value instanceof Date ? instantOf(value) : value;
}

function instantOf(value: Date | string): string {
  return value instanceof Date ? value.toISOString() : value;
}
