/** Schedules as this store holds them. */

import type { Line } from '../../../core/schedule/plan-line.ts';
import type { NewSchedule, Schedule } from '../../../core/schedule/schedule.ts';
import type { Run, RunState, Tick } from '../../../core/schedule/tick.ts';
import { copyJson } from '../base/copy.ts';

export interface ScheduleRow extends Omit<Schedule, 'nextRun'> {
  readonly lines: Map<string, LineRow>;
  /** The ledger, oldest first. */
  readonly ledger: TickRow[];
}

export interface LineRow extends Line {
  readonly schedule: string;
  /** `null` if it will never be due. */
  nextDue: number | null;
}

export interface TickRow extends Tick {
  /** The runs that it replaced, until they have been asked to stop. */
  stops: readonly Run[] | null;
  /** How its run ended; set when the run is pruned. */
  outcome: RunState['status'] | null;
}

export function isDueEarlier(a: LineRow, b: LineRow): boolean {
  const [aAt, bAt] = [a.nextDue ?? Infinity, b.nextDue ?? Infinity];
  return aAt === bAt ? a.id < b.id : aAt < bAt;
}

export function newScheduleRow(schedule: NewSchedule, { id, now }: { id: number; now: number }): ScheduleRow {
  return {
    ...copyJson(schedule),
    id,
    createdAt: now,
    updatedAt: now,
    pausedAt: null,
    pausedNote: null,
    lastRun: null,
    lastVerdict: null,
    lastJobId: null,
    lastWorkflowId: null,
    lines: new Map(),
    ledger: [],
  };
}

export function toSchedule(row: ScheduleRow): Schedule {
  const { lines, ledger: _, ...fields } = row;
  const dues = [...lines.values()].flatMap(({ nextDue }) => nextDue ?? []);
  const nextRun = row.pausedAt !== null || dues.length === 0 ? null : dues.reduce((a, b) => Math.min(a, b));
  return { ...copyJson(fields), nextRun };
}

export function toTick(row: TickRow): Tick {
  const { stops: _stops, outcome: _outcome, ...tick } = row;
  return tick;
}
