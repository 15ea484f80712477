/** Plans one line, that is one schedule and key: which rows its ledger gets, and which run waits for which. */

import type { Notify } from '../notify.ts';
import { jitterMs } from './jitter.ts';
import { ON_TIME_MS, planTicks } from './plan-ticks.ts';
import { recurrenceOf, unboundedOf } from './recurrence-of.ts';
import type { OverlapPolicy, Schedule, ScheduleSpec } from './schedule.ts';
import type { TickKind, TickOfJob, TickVerdict } from './tick.ts';
import { tickTargetsOf } from './tick-notices.ts';

/** One schedule and key, and how far its ticks have been judged. */
export interface Line {
  id: number;
  key: string;
  /** The last tick that has a verdict, or the instant from which ticks count. */
  cursor: number;
  /** The ledger row of the newest tick, if its verdict may be extended to more ticks. */
  tail: { tickId: number; verdict: TickVerdict } | null;
}

export interface LineRequest {
  /** The installation's targets, which are notified about every schedule. */
  notify?: readonly Notify[];
  schedule: ScheduleSpec & Pick<Schedule, 'name' | 'pausedAt'>;
  line: Line;
  /** The number of unfinished runs of this line. */
  open: number;
  now: number;
}

/**
 * How a due run relates to the unfinished runs of its line. `free`: it starts. `follow_open`: it waits for all of them.
 * `replace_open`: it waits for them, and they are asked to stop. `follow_previous`: it waits for the previous run of the
 * same decision. `skip`: it does not run.
 */
type Place = 'free' | 'follow_open' | 'replace_open' | 'follow_previous' | 'skip';

export interface PlannedRun {
  place: Exclude<Place, 'skip'>;
  /** The earliest start; `null`: now. */
  runAt: number | null;
  tick: TickOfJob;
  /** Notify targets of its end, in addition to those of the job or workflow. */
  notify?: readonly Notify[];
}

export interface PlannedTick {
  kind: TickKind;
  key: string;
  scheduledFor: number;
  through: number;
  count: number;
  verdict: TickVerdict;
  latenessMs: number | null;
  /** `null` unless the verdict is `ran`. */
  run: PlannedRun | null;
  /** The ledger row that this tick extends; `null`: the tick gets a row of its own. */
  addsTo: number | null;
  /** Notify targets of this tick; each still selects by event. */
  targets?: readonly Notify[];
}

export interface LinePlan {
  line: Line;
  /** Oldest first. */
  ticks: PlannedTick[];
  /** The last tick judged. */
  cursor: number;
  /** When the next tick is due; `null`: never. */
  nextDue: number | null;
}

/** Judges the due ticks of a line with at most `limit` rows, but at least one if any is due. */
export function planLine(request: LineRequest, limit: number): LinePlan {
  const { schedule, line, open, now } = request;
  const recurrence = recurrenceOf(schedule);
  const { cursor, catchup, pausedAt } = { ...schedule, cursor: line.cursor };
  const { verdicts } = planTicks({ recurrence, cursor, now, catchup, pausedAt });
  const ticks: PlannedTick[] = [];
  let started = 0;
  for (const verdict of verdicts) {
    if (verdict.verdict !== 'ran') {
      add(ticks, line, { ...verdict, ...NO_RUN, key: line.key });
      continue;
    }
    const { scheduledFor, latenessMs, catchup: late } = verdict;
    const place = placeOf({ policy: schedule.overlap, open, started });
    if (place === 'skip') {
      const skipped = { scheduledFor, through: scheduledFor, count: 1, verdict: 'skipped_overlap' } as const;
      add(ticks, line, { ...skipped, ...NO_RUN, key: line.key });
      continue;
    }
    started += 1;
    const window = schedule.jitterMs;
    const runAt = window === 0 ? null : scheduledFor + jitterMs(schedule.name, line.key, window);
    const tick = tickOfJob(schedule, line, { kind: 'tick', scheduledFor, catchup: late });
    ticks.push({ ...ranAt(tick, line.key, latenessMs), run: { place, runAt, tick } });
  }
  const kept = cut(ticks, limit);
  const last = kept.at(-1)?.through ?? line.cursor;
  return {
    line,
    ticks: kept.map((tick) => withTargets(request, tick)),
    cursor: last,
    nextDue: recurrence.next(last),
  };
}

/** Returns the plan with all runs `missed`, for a line whose runs cannot be started. */
export function missInstead({ ticks, ...plan }: LinePlan): LinePlan {
  const missed: PlannedTick[] = [];
  for (const { addsTo: _, ...tick } of ticks) {
    const verdict = tick.run === null ? tick.verdict : 'missed';
    add(missed, plan.line, { ...tick, ...NO_RUN, verdict });
  }
  return { ...plan, ticks: missed };
}

/** Plans a run that a user starts now. It does not move the line's cursor. */
export function planManual(request: LineRequest): PlannedTick {
  const { schedule, line, open, now } = request;
  const place = placeOf({ policy: schedule.overlap, open, started: 0 });
  const at = { kind: 'manual', key: line.key, scheduledFor: now, through: now, count: 1, addsTo: null } as const;
  if (place === 'skip') return { ...at, verdict: 'skipped_overlap', latenessMs: null, run: null };
  const tick = tickOfJob(schedule, line, { kind: 'manual', scheduledFor: now, catchup: false });
  return withTargets(request, { ...at, verdict: 'ran', latenessMs: 0, run: { place, runAt: null, tick } });
}

/**
 * Plans past ticks that a user backfills, oldest first. Unless overlap is allowed, each run waits for the previous one
 * and for all unfinished runs.
 */
export function planBackfill(request: LineRequest, instants: readonly number[]): PlannedTick[] {
  const { schedule, line, open, now } = request;
  return instants.map((scheduledFor, index) => {
    const tick = tickOfJob(schedule, line, {
      kind: 'backfill',
      scheduledFor,
      catchup: now - scheduledFor > ON_TIME_MS,
    });
    const behind = index > 0 ? 'follow_previous' : open > 0 ? 'follow_open' : 'free';
    const place = schedule.overlap === 'allow' ? 'free' : behind;
    return withTargets(request, { ...ranAt(tick, line.key, now - scheduledFor), run: { place, runAt: null, tick } });
  });
}

/** Adds the notify targets of the tick and of its run. */
function withTargets({ schedule, notify = [] }: LineRequest, tick: PlannedTick): PlannedTick {
  const run = tick.run === null ? null : { ...tick.run, notify: [...(schedule.notify ?? []), ...notify] };
  // With `latest`, dropped ticks are covered by the one that runs: nothing was missed.
  const covered = tick.verdict === 'dropped' && schedule.catchup.policy === 'latest';
  return { ...tick, run, targets: covered ? [] : tickTargetsOf(schedule, notify) };
}

const NO_RUN = { kind: 'tick', latenessMs: null, run: null, addsTo: null } as const;

function ranAt(tick: TickOfJob, key: string, latenessMs: number): Omit<PlannedTick, 'run'> {
  const { kind, scheduledFor } = tick;
  return { kind, key, scheduledFor, through: scheduledFor, count: 1, verdict: 'ran', latenessMs, addsTo: null };
}

/** Adds a tick. Neighbours with the same verdict share a row, including the last row of the ledger. */
function add(ticks: PlannedTick[], { tail }: Line, tick: PlannedTick): void {
  const before = ticks.at(-1);
  if (before?.verdict === tick.verdict) {
    before.through = tick.through;
    before.count += tick.count;
  } else if (before === undefined && tail?.verdict === tick.verdict) ticks.push({ ...tick, addsTo: tail.tickId });
  else ticks.push(tick);
}

/** Cuts the plan before the first run, so that the runs of one catch-up are never separated. */
function cut(ticks: readonly PlannedTick[], limit: number): PlannedTick[] {
  if (ticks.length <= limit) return [...ticks];
  const firstRun = ticks.findIndex(({ run }) => run !== null);
  const lastRun = ticks.findLastIndex(({ run }) => run !== null);
  return ticks.slice(0, firstRun > 0 ? Math.min(firstRun, limit) : Math.max(limit, lastRun + 1));
}

function tickOfJob(
  schedule: LineRequest['schedule'],
  { id, key }: Line,
  { kind, scheduledFor, catchup }: Pick<TickOfJob, 'kind' | 'scheduledFor' | 'catchup'>,
): TickOfJob {
  return {
    schedule: schedule.name,
    line: id,
    key: schedule.forEach === null ? null : key,
    kind,
    scheduledFor,
    intervalStart: unboundedOf(schedule).previous(scheduledFor) ?? scheduledFor,
    intervalEnd: scheduledFor,
    catchup,
  };
}

interface PlaceRequest {
  policy: OverlapPolicy;
  /** Unfinished runs from before this decision. */
  open: number;
  /** Runs that this decision has started so far. */
  started: number;
}

/** The place of the next run of a decision, oldest first. */
function placeOf({ policy, open, started }: PlaceRequest): Place {
  if (policy === 'allow') return 'free';
  // The runs of one catch-up follow one another, unless an unfinished run from before leaves no room for a second one.
  if (started > 0) return policy === 'buffer_one' && open > 0 ? 'skip' : 'follow_previous';
  if (open === 0) return 'free';
  if (policy === 'cancel_other') return 'replace_open';
  // One run may wait for the running one; a second may not.
  return policy === 'buffer_one' && open === 1 ? 'follow_open' : 'skip';
}
