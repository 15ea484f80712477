/** Computes how a change of a schedule changes its lines. Decides; does not write. */

import { type Changed, keysOf } from './change-schedule.ts';
import type { Line } from './plan-line.ts';
import type { Recurrence } from './recurrence.ts';
import { recurrenceOf } from './recurrence-of.ts';
import type { ScheduleSpec } from './schedule.ts';

export interface LineState extends Line {
  /** When the line is due: its next tick, or later if it was postponed. `null`: never. */
  nextDue: number | null;
}

interface ChangeRequest<L> {
  before: ScheduleSpec;
  changed: Changed<ScheduleSpec>;
  lines: readonly L[];
  /** The instant of the change. */
  at: number;
}

/**
 * The lines that must be judged by the schedule as it is before the change: all that are due, and those that were
 * postponed if the change would take their ticks from them.
 */
export function dueBeforeChange<L extends LineState>({ before, changed, lines, at }: ChangeRequest<L>): L[] {
  const next = nextOf(before);
  return lines.filter(({ key, cursor, nextDue }) => {
    if (!changed.closes(key)) return nextDue !== null && nextDue <= at;
    // A timing that cannot be read any more has no ticks.
    const due = next?.(cursor) ?? null;
    return due !== null && due <= at;
  });
}

interface LineChanges<L> {
  gone: L[];
  moves: (LineState & { line: L })[];
  /** Keys of new lines, which begin where the change says. */
  newKeys: string[];
}

/** Computes the new lines once nothing is due. A postponed line becomes due again: the change may have fixed it. */
export function changeLines<L extends LineState>({ changed, lines, at }: ChangeRequest<L>): LineChanges<L> {
  const { schedule, begin, restart } = changed;
  const next = nextOf(schedule);
  const keys = new Set(keysOf(schedule));
  const kept = lines.filter(({ key }) => keys.has(key));
  const known = new Set(kept.map(({ key }) => key));
  const moves = kept.flatMap((line) => {
    const { id, key, tail } = line;
    // Another instance may have judged ticks after the instant of the change.
    const cursor = restart ? Math.max(at, line.cursor) : line.cursor;
    const nextDue = next === undefined ? line.nextDue : next(cursor);
    if (!restart && nextDue === line.nextDue) return [];
    return [{ line, id, key, cursor, nextDue, tail: restart ? null : tail }];
  });
  return {
    gone: lines.filter(({ key }) => !keys.has(key)),
    moves,
    newKeys: begin === null ? [] : [...keys].filter((key) => !known.has(key)),
  };
}

/**
 * Returns the next tick after an instant, cached because thousands of lines share few instants. `undefined`: the timing
 * cannot be read any more.
 */
function nextOf(spec: ScheduleSpec): ((cursor: number) => number | null) | undefined {
  let recurrence: Recurrence;
  try {
    recurrence = recurrenceOf(spec);
  } catch {
    return undefined;
  }
  const known = new Map<number, number | null>();
  return (cursor) => {
    let next = known.get(cursor);
    if (next === undefined) {
      next = recurrence.next(cursor);
      known.set(cursor, next);
    }
    return next;
  };
}
