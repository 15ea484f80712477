/** The operations on schedules. */

import { WorkronError } from '../../core/error.ts';
import { jitterMs } from '../../core/schedule/jitter.ts';
import { addRuns } from '../../core/schedule/plan-due.ts';
import { oldestTicks } from '../../core/schedule/recurrence.ts';
import { recurrenceOf } from '../../core/schedule/recurrence-of.ts';
import {
  type NewSchedule,
  SCHEDULE_NAME,
  type Schedule,
  type ScheduleChange,
  type ScheduledJobEdit,
  type ScheduleEdit,
} from '../../core/schedule/schedule.ts';
import type { Tick } from '../../core/schedule/tick.ts';
import type { ChangeRequest, RunRequest, ScheduleFilter, TickFilter } from '../../store/schedule-store.ts';
import type { SchedulerContext } from '../context.ts';
import { withInstallationTargets } from '../notify/targets.ts';
import { pageOf } from '../page.ts';
import { type Seal, sealTarget } from '../secrets/sealing.ts';
import { AdaptiveBatch } from './adaptive-batch.ts';
import { type Backfilled, type BackfillRequest, scheduleNotFound, ticksInRange, ticksWithoutRun } from './backfill.ts';
import {
  detailsOf,
  type LedgerEntry,
  type ScheduleDetail,
  type ScheduleTimeline,
  type TimelineRequest,
  timelineOf,
  withRuns,
} from './recent-runs.ts';

export interface SchedulePage {
  /** Sorted by name. */
  items: Schedule[];
  /** Pass as `after` to read the next page; `null` on the last page. */
  nextAfter: string | null;
}

export interface TickPage {
  /** Newest first. */
  items: LedgerEntry[];
  /** Pass as `before` to read the next page; `null` on the last page. */
  nextBefore: number | null;
}

interface NextTicks {
  timezone: string;
  ticks: number[];
  /** How long after its tick a run starts, by the schedule's jitter; `null`: each key has another delay. */
  delayMs: number | null;
}

interface Options {
  idempotency?: { key: string; fingerprint: string };
}

/** Every method that takes a name throws `schedule_not_found` if no schedule has it. */
export interface Schedules {
  /** Throws `schedule_invalid` for a schedule that cannot be read or never fires, `schedule_exists` for a name that is taken. */
  createSchedule(schedule: NewSchedule, signal: AbortSignal): Promise<Schedule>;
  schedule(name: string, signal: AbortSignal): Promise<Schedule>;
  /** The schedule with the values of its environments, to compare it; one that cannot be opened differs from all. */
  openSchedule(schedule: Schedule, signal: AbortSignal): Promise<Schedule>;
  schedules(
    filter: ScheduleFilter,
    page: { after: string | null; limit: number },
    signal: AbortSignal,
  ): Promise<SchedulePage>;
  /** A new timing starts now; ticks that were due before are judged by the old one. */
  editSchedule(name: string, edit: ScheduleEdit, signal: AbortSignal): Promise<Schedule>;
  /** Its runs go on. A new schedule of the same name begins with an empty ledger. */
  deleteSchedule(name: string, signal: AbortSignal): Promise<void>;
  /** Ticks from now on get the verdict `paused` and are not caught up. */
  pauseSchedule(name: string, note: string | null, signal: AbortSignal): Promise<Schedule>;
  resumeSchedule(name: string, signal: AbortSignal): Promise<Schedule>;
  /**
   * Runs the schedule now, paused or not, for these keys (`null`: all). The overlap policy applies; if it lets nothing
   * run, throws `illegal_transition`.
   */
  runSchedule(
    name: string,
    request: { keys: readonly string[] | null },
    options: Options,
    signal: AbortSignal,
  ): Promise<{ ticks: Tick[]; replayed: boolean }>;
  /** Runs past ticks that have no run. Throws `bad_request` for more than `MAX_BACKFILLED` of them. */
  backfillSchedule(name: string, request: BackfillRequest, options: Options, signal: AbortSignal): Promise<Backfilled>;
  /** The next `count` ticks from now on, even if the schedule is paused. */
  nextTicks(name: string, count: number, signal: AbortSignal): Promise<NextTicks>;
  ticks(
    name: string,
    filter: TickFilter,
    page: { before: number | null; limit: number },
    signal: AbortSignal,
  ): Promise<TickPage>;
  /** Adds how the latest runs of these schedules went. */
  scheduleDetails(schedules: readonly Schedule[], signal: AbortSignal): Promise<ScheduleDetail[]>;
  /** The ticks of these schedules in a range, with their runs, and the ticks to come. */
  timeline(schedules: readonly Schedule[], request: TimelineRequest, signal: AbortSignal): Promise<ScheduleTimeline[]>;
}

export function schedulesOf(context: SchedulerContext): Schedules {
  const { store, sealing } = context;
  return {
    async createSchedule(schedule, signal) {
      if (!SCHEDULE_NAME.test(schedule.name)) {
        const got = JSON.stringify(schedule.name.slice(0, 64));
        throw new WorkronError('schedule_invalid', `name: expected a-z, 0-9, ".", "_" and "-", got ${got}`);
      }
      const target = sealTarget(schedule.target, await sealing.seal());
      return await store.createSchedule({ ...schedule, target }, signal);
    },
    schedule: (name, signal) => readSchedule(context, name, signal),
    openSchedule: async (schedule, signal) => ({
      ...schedule,
      target: await sealing.openTarget(schedule.target, signal),
    }),
    async schedules(filter, { after, limit }, signal) {
      const found = await store.schedules(filter, { after, limit: limit + 1 }, signal);
      const items = found.slice(0, limit);
      return { items, nextAfter: found.length > limit ? (items.at(-1)?.name ?? null) : null };
    },
    async editSchedule(name, edit, signal) {
      const { job } = edit;
      const inputIsSealed = job?.input === undefined ? false : await sealsInput(context, name, job, signal);
      const sealed = sealEdit(edit, { seal: await sealing.seal(), inputIsSealed });
      return await change(context, name, { type: 'edit', edit: sealed }, signal);
    },
    async deleteSchedule(name, signal) {
      if (!(await store.deleteSchedule(name, signal))) throw scheduleNotFound(name);
    },
    pauseSchedule: (name, note, signal) => change(context, name, { type: 'pause', note }, signal),
    resumeSchedule: (name, signal) => change(context, name, { type: 'resume' }, signal),
    runSchedule: (name, { keys }, options, signal) => runNow(context, { name, keys, options }, signal),
    backfillSchedule: (name, request, options, signal) => backfill(context, { name, request, options }, signal),
    async nextTicks(name, count, signal) {
      const schedule = await readSchedule(context, name, signal);
      const now = await store.now(signal);
      const ticks = oldestTicks(recurrenceOf(schedule), now, Number.POSITIVE_INFINITY, count);
      const { timezone, jitterMs: window, forEach } = schedule;
      const delayMs = window === 0 ? 0 : forEach === null ? jitterMs(name, '', window) : null;
      return { timezone, ticks, delayMs };
    },
    async ticks(name, filter, { before, limit }, signal) {
      const found = await store.ticks(name, filter, { before, limit: limit + 1 }, signal);
      const { items, ...rest } = pageOf(required(found, name), limit);
      return { ...rest, items: await withRuns(store, items, signal) };
    },
    scheduleDetails: (schedules, signal) => detailsOf(store, schedules, signal),
    timeline: (schedules, request, signal) => timelineOf(store, schedules, request, signal),
  };
}

/** Whether the input of an edit is to be sealed: by the edit, or by the schedule as it is. */
async function sealsInput(
  context: SchedulerContext,
  name: string,
  { sealInput, command }: ScheduledJobEdit,
  signal: AbortSignal,
): Promise<boolean> {
  if (sealInput !== undefined || command != null) return sealInput ?? false;
  const { target } = await readSchedule(context, name, signal);
  return 'job' in target && target.job.sealInput;
}

function sealEdit(
  { target, job, ...edit }: ScheduleEdit,
  { seal, inputIsSealed }: { seal: Seal; inputIsSealed: boolean },
): ScheduleEdit {
  return {
    ...edit,
    ...(target === undefined ? {} : { target: sealTarget(target, seal) }),
    ...(job === undefined
      ? {}
      : {
          job: {
            ...job,
            ...(job.env != null && { env: seal.env(job.env) }),
            ...(inputIsSealed && { input: null, sealInput: true, sealedInput: seal.input(job.input) }),
          },
        }),
  };
}

function required<T>(found: T | undefined, name: string): T {
  if (found === undefined) throw scheduleNotFound(name);
  return found;
}

async function readSchedule({ store }: SchedulerContext, name: string, signal: AbortSignal): Promise<Schedule> {
  return required(await store.schedule(name, signal), name);
}

/**
 * Gives every due tick its verdict by the schedule as it is, in transactions of bounded size, and then changes it. If the
 * process dies in between, some ticks were judged as the ticker would have judged them, and nothing was changed.
 */
async function change(
  context: SchedulerContext,
  name: string,
  change: ScheduleChange,
  signal: AbortSignal,
): Promise<Schedule> {
  const notify = withInstallationTargets([], context.notify);
  const batch = new AdaptiveBatch(context);
  let at: number | null = null;
  for (;;) {
    const request: Omit<ChangeRequest, 'limit'> = { change, at, notify };
    const step = await batch.judge(
      (size) => context.store.changeSchedule(name, { ...request, ...size }, signal),
      signal,
    );
    if (step === 'too_large') continue;
    const { changed, schedule, at: judgedTo } = required(step, name);
    if (changed) return schedule;
    at = judgedTo;
  }
}

interface RunCall {
  name: string;
  keys: readonly string[] | null;
  options: Options;
}

async function runNow(context: SchedulerContext, { name, keys, options }: RunCall, signal: AbortSignal) {
  const ran = await run(context, { name, options, request: { kind: 'manual', keys, instants: [] } }, signal);
  if (ran.ticks.some(({ verdict }) => verdict === 'ran')) return ran;
  const { overlap } = await readSchedule(context, name, signal);
  throw new WorkronError(
    'illegal_transition',
    `Schedule ${name} has an unfinished run, and its overlap policy is ${overlap}; wait for it or cancel it`,
  );
}

interface BackfillCall {
  name: string;
  request: BackfillRequest;
  options: Options;
}

async function backfill(
  context: SchedulerContext,
  { name, request, options }: BackfillCall,
  signal: AbortSignal,
): Promise<Backfilled> {
  const { keys, dryRun } = request;
  const schedule = await readSchedule(context, name, signal);
  const instants = ticksInRange(schedule, request, await context.store.now(signal));
  const missing = await ticksWithoutRun(context, { schedule, keys, instants }, signal);
  if (dryRun) return { missing, ticks: [], replayed: false };
  const ran = await run(context, { name, options, request: { kind: 'backfill', keys, instants } }, signal);
  return { missing: ran.ticks.map(({ key, scheduledFor }) => ({ key, scheduledFor })), ...ran };
}

async function run(
  context: SchedulerContext,
  { name, request, options }: { name: string; request: RunRequest; options: Options },
  signal: AbortSignal,
): Promise<{ ticks: Tick[]; replayed: boolean }> {
  const notify = withInstallationTargets([], context.notify);
  const ran = required(await context.store.runSchedule(name, { ...request, notify }, options, signal), name);
  await countSubmitted(context, { name, ...ran }, signal);
  return ran;
}

/** Counts the jobs that were started. They are stored, so an error here must not fail the call. */
async function countSubmitted(
  { store, telemetry, clock, log }: SchedulerContext,
  { name, ticks, replayed }: { name: string; ticks: readonly Tick[]; replayed: boolean },
  signal: AbortSignal,
): Promise<void> {
  const runs = ticks.filter(({ jobId, workflowId }) => jobId !== null || workflowId !== null).length;
  if (replayed || runs === 0) return;
  try {
    const schedule = await store.schedule(name, signal);
    const started = {};
    if (schedule !== undefined) addRuns(started, schedule.target, runs);
    telemetry.started(started, clock.now(), { schedule: name });
  } catch (error) {
    log.debug({ error, schedule: name, runs }, 'could not count the jobs of a manual run');
  }
}
