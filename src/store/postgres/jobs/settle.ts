/** Settles successful attempts. */

import type { Settled, Start, Success } from '../../../core/lease.ts';
import type { Context } from '../base/context.ts';
import { numbers } from '../base/values.ts';
import type { LinkedClaim } from '../graph/linked-claims.ts';
import { endLinked } from '../graph/settle-linked.ts';
import type { OpenAttempt } from './open-claims.ts';
import { alikeColumnsOf, columnsOf, type EndedColumns, type EndedRow, rowsOf } from './settled-rows.ts';

interface EarlierRow extends Omit<EndedRow, 'now'> {
  ended_at: number;
}

/**
 * Ends jobs that are not linked to others in one statement. The jobs that are left are linked, or their lease is lost. Linked
 * jobs end in transactions.
 */
export async function settle(context: Context, successes: readonly Success[], signal: AbortSignal): Promise<Settled[]> {
  const first = oncePerAttempt(successes);
  const linked = new Map<number, LinkedClaim>();
  const simple = first.filter(({ jobId }) => {
    const claim = context.linkedClaims.take(jobId);
    if (claim !== undefined) linked.set(jobId, claim);
    return claim === undefined;
  });
  const rows = simple.length === 0 ? [] : await endSimple(context, simple, signal);
  // They have ended, even if the others cannot be.
  releaseAndAnnounce(context, rows);
  if (rows.length < first.length) {
    const ended = new Set(rows.map(({ job_id }) => job_id));
    const left = first.filter(({ jobId }) => !ended.has(jobId));
    const others = await endLinked(context, left, linked, signal);
    releaseAndAnnounce(context, others);
    rows.push(...others);
  }
  // Nearly always: each job once, in the order of the ids, and all ended.
  if (rows.every(({ job_id }, place) => job_id === successes[place]?.jobId) && rows.length === successes.length) {
    return rows.map(answerOf);
  }
  return await inOrder(context, successes, rows, signal);
}

function releaseAndAnnounce({ hints, lanes, openClaims }: Context, rows: readonly EndedRow[]): void {
  if (rows.length === 0) return;
  for (const { job_id, attempt } of rows) openClaims.release(job_id, attempt);
  // An end makes room only where the number of running jobs is limited.
  hints.announce({ work: lanes.anyLimited, jobs: rows.map((row) => row.job_id) });
}

function answerOf({ queue, due, started_at, now }: EndedRow): Settled {
  return { result: 'ok', fresh: true, queue, dueAt: due, startedAt: started_at, endedAt: now };
}

/** Returns an answer for each report. If a call has the same report twice, only the first one is fresh. */
async function inOrder(
  context: Context,
  successes: readonly Success[],
  rows: readonly EndedRow[],
  signal: AbortSignal,
): Promise<Settled[]> {
  const fresh = new Map(
    rows.map((row) => [attemptKey({ jobId: row.job_id, attempt: row.attempt, workerId: row.worker_id }), row]),
  );
  const answers = successes.map((success): Settled | undefined => {
    const key = attemptKey(success);
    const row = fresh.get(key);
    fresh.delete(key);
    return row === undefined ? undefined : answerOf(row);
  });
  const open = successes.filter((_, index) => answers[index] === undefined);
  if (open.length === 0) return answers as Settled[];
  const earlier = await endedBefore(context, open, signal);
  return answers.map(
    (answer, index) => answer ?? earlier.get(attemptKey(successes[index] as Success)) ?? { result: 'lease_lost' },
  );
}

type AttemptRef = Pick<Success, 'jobId' | 'attempt' | 'workerId'>;
function attemptKey({ jobId, attempt, workerId }: AttemptRef): string {
  return `${jobId} ${attempt} ${workerId}`;
}

/** Returns each report once, sorted by job id: the jobs are locked in this order. */
function oncePerAttempt(successes: readonly Success[]): readonly Success[] {
  const isSorted = successes.every(
    ({ jobId }, place) => place === 0 || (successes[place - 1] as Success).jobId < jobId,
  );
  if (isSorted) return successes;
  const first = new Map<string, Success>();
  for (const success of successes) {
    const key = attemptKey(success);
    if (!first.has(key)) first.set(key, success);
  }
  return [...first.values()].sort((a, b) => a.jobId - b.jobId);
}

async function endSimple(context: Context, successes: readonly Success[], signal: AbortSignal): Promise<EndedRow[]> {
  const { database, sql, lanes } = context;
  const known = knownOf(context, successes);
  if (known === undefined) {
    const [columns] = await database.query<EndedColumns>(sql.settle, columnsOf(successes), signal);
    return await rowsOf(lanes, columns as EndedColumns, signal);
  }
  type Row = { now: number; ids: number[] | null };
  const alike = alikeColumnsOf(successes);
  const [row] = await (alike === undefined
    ? database.query<Row>(sql.settleKnown, columnsOf(successes), signal)
    : database.query<Row>(sql.settleAlike, alike, signal));
  const { now, ids } = row as Row;
  const rows = successes.map(({ jobId, attempt, workerId, startedAt = now }, place): EndedRow => {
    const { queue, dueAt, startedAt: began } = known[place] as OpenAttempt;
    const started_at = Math.min(began ?? startedAt, now);
    return { job_id: jobId, attempt, worker_id: workerId, queue, due: dueAt, started_at, now };
  });
  const ended = ids === null ? null : new Set(ids);
  return ended === null ? rows : rows.filter(({ job_id }) => ended.has(job_id));
}

/** Returns what this process knows of the attempts; `undefined` unless it knows everything that their end is answered with. */
function knownOf({ openClaims }: Context, successes: readonly Success[]): OpenAttempt[] | undefined {
  const known: OpenAttempt[] = [];
  for (const success of successes) {
    const found = openClaims.find(success);
    if (found === undefined || (found.startedAt === null && success.startedAt === undefined)) return undefined;
    known.push(found);
  }
  return known;
}

/** Returns the answers for jobs that the same attempt has already ended as `done`. */
async function endedBefore(
  { database, sql }: Context,
  successes: readonly Success[],
  signal: AbortSignal,
): Promise<Map<string, Settled>> {
  const ids = numbers([...new Set(successes.map(({ jobId }) => jobId))]);
  const rows = await database.query<EarlierRow>(sql.settledBefore, [ids], signal);
  return new Map(
    rows.map((row) => [
      attemptKey({ jobId: row.job_id, attempt: row.attempt, workerId: row.worker_id }),
      {
        result: 'ok',
        fresh: false,
        queue: row.queue,
        dueAt: row.due,
        startedAt: row.started_at,
        endedAt: row.ended_at,
      },
    ]),
  );
}

/** Records when prefetched jobs have started. */
export async function start(
  { database, sql, openClaims }: Context,
  starts: readonly Start[],
  signal: AbortSignal,
): Promise<void> {
  const inOrder = [...starts].sort((a, b) => a.jobId - b.jobId);
  const columns = [
    numbers(inOrder.map(({ jobId }) => jobId)),
    numbers(inOrder.map(({ attempt }) => attempt)),
    numbers(inOrder.map(({ workerId }) => workerId)),
    numbers(inOrder.map(({ startedAt }) => startedAt)),
  ];
  await database.queryReserved(sql.startJobs, columns, signal);
  for (const begun of starts) openClaims.started(begun);
}
