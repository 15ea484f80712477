/** Schedules of jobs and commands. */

import type { ScheduleDeclarationInput } from '../api/schedule.ts';
import type { CatchupPolicy } from '../core/schedule/plan-ticks.ts';
import type { OverlapPolicy } from '../core/schedule/schedule.ts';
import type { Engine } from './engine.ts';
import { Handle } from './handle.ts';
import type { JobType } from './job.ts';
import type { Backfill, Schedule, Tick } from './messages.ts';
import { type Notify, notifyToWire } from './notify.ts';
import { type Duration, given, type JobOptions, type SubmitOptions, templateOf, withInput } from './options.ts';

/** A cron expression or several, or a fixed interval. */
export type ScheduleTiming =
  | { cron: string | string[]; every?: undefined; anchor?: undefined }
  /** Ticks are counted from `anchor`. Default: 1970-01-01T00:00:00Z. */
  | { every: Duration; anchor?: Date | string | undefined; cron?: undefined };

export interface ScheduleRules {
  /** The IANA name of the time zone. Default: `UTC`. */
  timezone?: string | undefined;
  /** The policy for a tick that is due while an earlier run has not ended. Default: `skip`. */
  overlap?: OverlapPolicy | undefined;
  /** The policy for ticks that were missed. Default: run the `latest` if it is less than an hour old. */
  catchup?: { policy?: CatchupPolicy | undefined; window?: Duration | undefined; max?: number | undefined } | undefined;
  /** Spreads runs over this time. Each schedule and key has a fixed offset. */
  jitter?: Duration | undefined;
  /** The first instant with ticks (inclusive), and the end of ticks (exclusive). */
  startAt?: Date | string | undefined;
  endAt?: Date | string | undefined;
  /** Each tick runs once per key. A run finds its key in `tick.key`. */
  forEach?: readonly string[] | undefined;
  /** Notifications about its runs and missed ticks. */
  notify?: readonly Notify[] | undefined;
}

/** Options of the runs of a schedule. They override those of the job. */
export interface ScheduledOptions extends JobOptions, Pick<SubmitOptions, 'name' | 'fairKey' | 'env'> {}

export type JobSchedule<Input, Result> = ScheduleTiming &
  ScheduleRules & {
    job: JobType<Input, Result>;
    options?: ScheduledOptions | undefined;
  } & (undefined extends Input ? { input?: NoInfer<Input> | undefined } : { input: NoInfer<Input> });

/** A schedule of a shell command, for workers that run commands. */
export type CommandSchedule = ScheduleTiming &
  ScheduleRules & { command: string; options?: ScheduledOptions | undefined };

export interface BackfillOptions {
  /** The first instant (inclusive). */
  from: Date | string;
  /** The end (exclusive), not later than now. */
  to: Date | string;
  /** Only these keys of `forEach`. Default: all keys. */
  keys?: readonly string[] | undefined;
  /** Lists the ticks and runs nothing. */
  dryRun?: boolean | undefined;
}

/** A schedule that was declared before. Every call rejects with `schedule_not_found` if it does not exist. */
export class ScheduleHandle<Result = unknown> {
  readonly name: string;
  readonly #engine: Engine;

  /** @internal Not declared: `schedule` and `scheduleHandle` make one. */
  constructor(engine: Engine, name: string) {
    this.#engine = engine;
    this.name = name;
  }

  /** Returns the schedule as it is now: its rules, its next tick and the verdict on the last one. */
  schedule(): Promise<Schedule> {
    return this.#engine.api.readSchedule(this.name);
  }

  /** Returns its next ticks, even if it is paused. */
  async next(count = 10): Promise<Date[]> {
    return (await this.#engine.api.listNextTicks(this.name, { count })).items.map(({ utc }) => new Date(utc));
  }

  /** Returns the ledger, newest first: every tick with its verdict. */
  async ticks({ limit = 50 }: { limit?: number } = {}): Promise<Tick[]> {
    return (await this.#engine.api.listTicks(this.name, { limit })).items;
  }

  /** Pauses the schedule. Ticks do not run and are not caught up. `note` can say why. */
  pause(note?: string): Promise<Schedule> {
    return this.#engine.api.pauseSchedule(this.name, note === undefined ? {} : { note });
  }

  resume(): Promise<Schedule> {
    return this.#engine.api.resumeSchedule(this.name);
  }

  /**
   * Runs it now, even if it is paused. Returns one handle per run, one for each key. Rejects with `illegal_transition` if
   * an earlier run has not ended and the overlap policy does not allow another.
   */
  async run({ keys }: { keys?: readonly string[] } = {}): Promise<Handle<Result>[]> {
    const { items } = await this.#engine.api.runSchedule(this.name, keys === undefined ? {} : { keys: [...keys] });
    return items.flatMap(({ jobId: id }) => (id === null ? [] : [new Handle<Result>(this.#engine, id)]));
  }

  /** Runs past ticks that have no run. */
  backfill({ from, to, keys, dryRun }: BackfillOptions): Promise<Backfill> {
    return this.#engine.api.backfillSchedule(this.name, {
      from: instantOf(from),
      to: instantOf(to),
      ...(keys === undefined ? {} : { keys: [...keys] }),
      ...(dryRun === undefined ? {} : { dryRun }),
    });
  }

  /** Deletes the schedule with its ledger. Its runs continue. */
  async remove(): Promise<void> {
    await this.#engine.api.deleteSchedule(this.name);
  }
}

/** The schedule as the API takes it. `input` has been checked. */
export function declarationOf(
  { job, command, options = {}, ...rules }: AnySchedule,
  input: unknown,
): ScheduleDeclarationInput {
  const target =
    job === undefined
      ? templateOf({ command: command as string }, options)
      : {
          ...withInput(templateOf({ handler: job.name }, job.options, options), job.ofInput, { input, options }),
          input,
        };
  const wire: Record<string, unknown> = { job: target };
  for (const [property, value] of Object.entries(rules)) {
    // Unknown options keep their name, so that the schema refuses them with a suggestion.
    if (value !== undefined && property !== 'input') wire[FIELDS[property] ?? property] = encode(property, value);
  }
  return wire;
}

/** A schedule of a job or a command. */
export type AnySchedule = ScheduleTiming &
  ScheduleRules & { job?: JobType; command?: string; options?: ScheduledOptions; input?: unknown };

const FIELDS: Readonly<Record<string, string>> = { startAt: 'start_at', endAt: 'end_at', forEach: 'for_each' };

function encode(property: string, value: unknown): unknown {
  if (property === 'notify') return notifyToWire(value as readonly Notify[]);
  if (property === 'catchup') return given(value);
  return value instanceof Date ? instantOf(value) : value;
}

function instantOf(value: Date | string): string {
  return value instanceof Date ? value.toISOString() : value;
}
