import type { Start } from '../../../core/lease.ts';
import { FLAG, LINKED } from '../../flags.ts';
import type { Context } from '../base/context.ts';
import { sql } from '../base/sql.ts';
import { settleLinked } from '../graph/settle-linked.ts';

/** One success: job, attempt, worker, exit code, result as JSON text, start, and what was used, if it was reported. */
export type SuccessRow = readonly [
  jobId: number,
  attempt: number,
  workerId: number,
  exitCode: number | null,
  result: string | null,
  /** The reported start of a prefetched job; `null` for other jobs. */
  startedAt: number | null,
  ...usage: [cpuMs: number, maxRssBytes: number | null] | [],
];

interface SettleInput {
  /** `SuccessRow[]` as JSON: SQLite reads it as it is. */
  rows: string;
  count: number;
  hasResults: boolean;
  hasUsage: boolean;
}

/** One success that was accepted, now or (`fresh` false) before. */
export type SettledRow = readonly [
  jobId: number,
  attempt: number,
  workerId: number,
  fresh: boolean,
  queue: string,
  dueAt: number,
  startedAt: number,
  endedAt: number,
];

/** Positions in an `EndedRow`. */
const ENDED = { flags: 3, startedAt: 6 } as const;

type EndedRow = readonly [
  jobId: number,
  attempt: number,
  workerId: number,
  flags: number,
  lane: number,
  dueAt: number,
  startedAt: number | null,
];

/** Returns the accepted successes in no particular order, as JSON of `SettledRow[]`: text is the cheapest to send. */
export function settle(context: Context, { rows, count, hasResults, hasUsage }: SettleInput): string {
  const { database, lanes, now, effects } = context;
  database.run(sql.settleRuns, rows, now);
  if (hasResults) database.run(sql.settleResults, rows);
  if (hasUsage) database.run(sql.settleUsage, rows);
  const ended = database.tuples<EndedRow>(sql.settleLive, rows);
  if (ended.length > 0) effects.madeRoom();
  for (const [jobId] of ended) effects.changedJob(jobId);
  const linked = ended.filter((row) => row[ENDED.flags] & (LINKED | FLAG.holdsKey));
  if (linked.length > 0) {
    settleLinked(
      context,
      linked.map(([jobId, , , flags]) => ({ jobId, flags })),
    );
  }

  const starts = ended.some((row) => row[ENDED.startedAt] === null) ? startsIn(rows) : null;
  const settled = ended.map(
    ([jobId, attempt, workerId, , lane, dueAt, startedAt]): SettledRow => [
      jobId,
      attempt,
      workerId,
      true,
      lanes.laneOf(lane).queue,
      dueAt,
      startedAt ?? Math.min(starts?.get(jobId) ?? now, now),
      now,
    ],
  );
  if (ended.length < count) settled.push(...settledBefore(context, JSON.parse(rows) as SuccessRow[], ended));
  return JSON.stringify(settled);
}

/** Returns the starts that the reports contain, by job. */
function startsIn(rows: string): Map<number, number | null> {
  return new Map((JSON.parse(rows) as SuccessRow[]).map(([jobId, , , , , startedAt]) => [jobId, startedAt]));
}

export function start({ database, now }: Context, starts: readonly Start[]): void {
  for (const { jobId, attempt, workerId, startedAt } of starts) {
    database.run(sql.startJobs, jobId, attempt, workerId, Math.round(startedAt), now);
  }
}

function settledBefore(
  { database }: Context,
  successes: readonly SuccessRow[],
  ended: readonly EndedRow[],
): SettledRow[] {
  const fresh = new Set(ended.map(([jobId, attempt, workerId]) => `${jobId}/${attempt}/${workerId}`));
  return successes
    .filter(([jobId, attempt, workerId]) => !fresh.has(`${jobId}/${attempt}/${workerId}`))
    .flatMap(([jobId, attempt, workerId]) => {
      const row = database.get<{ queue: string; due: number; started_at: number; ended_at: number }>(
        sql.settledBefore,
        jobId,
        attempt,
        workerId,
      );
      return row === undefined
        ? []
        : [[jobId, attempt, workerId, false, row.queue, row.due, row.started_at, row.ended_at] as const];
    });
}
