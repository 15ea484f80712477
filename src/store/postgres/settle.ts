import type { Settled, Success } from '../store.ts';
import type { Context } from './context.ts';
import { transactAgain } from './graph/again.ts';
import { Conclusion } from './graph/conclusion.ts';
import { lockConcerned } from './graph/lock-concerned.ts';
import { Locks } from './graph/locks.ts';
import { Tally } from './graph/tally.ts';
import { numbers, texts } from './values.ts';

interface EndedRow {
  job_id: number;
  attempt: number;
  worker_id: number;
  lane: number;
  due: number;
  started_at: number;
  now: number;
}

/** Columns of equal length; `null` where nothing was ended. */
interface EndedColumns {
  now: number;
  ids: number[] | null;
  attempts: number[];
  workers: number[];
  lanes: number[];
  dues: number[];
  starts: number[];
}

interface EarlierRow {
  job_id: number;
  attempt: number;
  worker_id: number;
  queue: string;
  due: number;
  started_at: number;
  ended_at: number;
}

/**
 * Jobs that concern nobody else end in one statement. What that leaves over is linked to others, or is no longer held; the
 * first kind takes a transaction.
 */
export async function settle(context: Context, successes: readonly Success[], signal: AbortSignal): Promise<Settled[]> {
  const first = firstOfEach(successes);
  const [columns] = await context.database.query<EndedColumns>(context.sql.settle, columnsOf(first), signal);
  const rows = columns === undefined ? [] : rowsOf(columns);
  if (rows.length < first.length) {
    const ended = new Set(rows.map(({ job_id }) => job_id));
    rows.push(
      ...(await endLinked(
        context,
        first.filter(({ jobId }) => !ended.has(jobId)),
        signal,
      )),
    );
  }
  const fresh = await answered(context, rows, signal);
  const answers = successes.map((success): Settled | undefined => {
    const answer = fresh.get(fenceOf(success));
    // The same report twice in one call: the second repeats the first.
    fresh.delete(fenceOf(success));
    return answer;
  });
  const open = successes.filter((_, index) => answers[index] === undefined);
  const earlier = open.length === 0 ? new Map<string, Settled>() : await endedBefore(context, open, signal);
  return answers.map(
    (answer, index) => answer ?? earlier.get(fenceOf(successes[index] as Success)) ?? { result: 'lease_lost' },
  );
}

function fenceOf({ jobId, attempt, workerId }: Pick<Success, 'jobId' | 'attempt' | 'workerId'>): string {
  return `${jobId} ${attempt} ${workerId}`;
}

/** By id, as all who lock several jobs do. */
function firstOfEach(successes: readonly Success[]): Success[] {
  const first = new Map<string, Success>();
  for (const success of successes) {
    const fence = fenceOf(success);
    if (!first.has(fence)) first.set(fence, success);
  }
  return [...first.values()].sort((a, b) => a.jobId - b.jobId);
}

/** All are locked first; then they end, and in later statements those around them hear of it. */
async function endLinked(context: Context, successes: readonly Success[], signal: AbortSignal): Promise<EndedRow[]> {
  const { sql } = context;
  const { rows, tally } = await transactAgain(context, signal, async (session) => {
    const ledger = new Tally();
    const locks = new Locks(context, session);
    const ids = successes.map(({ jobId }) => jobId);
    await lockConcerned(context, { session, locks }, { ends: ids });
    if (!ids.some((id) => locks.holds(id))) return { rows: [], tally: ledger };
    const gone = await session.query<EndedRow & { flags: number }>(sql.settleLinked, columnsOf(successes));
    const ended = gone.map(({ job_id, flags }) => ({ jobId: job_id, flags, status: 'done' as const, quiet: false }));
    ledger.at(gone[0]?.now ?? 0);
    const conclusion = new Conclusion(context, { session, locks, tally: ledger });
    await conclusion.ended(ended);
    await conclusion.write();
    await ledger.write(context, session);
    return { rows: gone, tally: ledger };
  });
  tally.tell(context);
  return rows;
}

function columnsOf(successes: readonly Success[]): unknown[] {
  return [
    numbers(successes.map(({ jobId }) => jobId)),
    numbers(successes.map(({ attempt }) => attempt)),
    numbers(successes.map(({ workerId }) => workerId)),
    numbers(successes.map(({ exitCode }) => exitCode)),
    texts(successes.map(({ result }) => (result == null ? null : JSON.stringify(result)))),
  ];
}

async function answered(
  { lanes, hints }: Context,
  rows: readonly EndedRow[],
  signal: AbortSignal,
): Promise<Map<string, Settled>> {
  // An end makes room only where the number of running jobs is limited.
  hints.tell({ work: lanes.anyLimited && rows.length > 0, jobs: rows.map((row) => row.job_id) });
  if (rows.some(({ lane }) => lanes.lane(lane) === undefined)) await lanes.refresh(signal);
  return new Map(
    rows.map((row) => [
      fenceOf({ jobId: row.job_id, attempt: row.attempt, workerId: row.worker_id }),
      {
        result: 'ok',
        fresh: true,
        queue: lanes.lane(row.lane)?.queue ?? '',
        dueAt: row.due,
        startedAt: row.started_at,
        endedAt: row.now,
      },
    ]),
  );
}

function rowsOf({ now, ids, attempts, workers, lanes, dues, starts }: EndedColumns): EndedRow[] {
  return (ids ?? []).map((jobId, place) => ({
    job_id: jobId,
    attempt: attempts[place] as number,
    worker_id: workers[place] as number,
    lane: lanes[place] as number,
    due: dues[place] as number,
    started_at: starts[place] as number,
    now,
  }));
}

/** Those that were ended `done` by this very attempt before. */
async function endedBefore(
  { database, sql }: Context,
  successes: readonly Success[],
  signal: AbortSignal,
): Promise<Map<string, Settled>> {
  const ids = numbers([...new Set(successes.map(({ jobId }) => jobId))]);
  const rows = await database.query<EarlierRow>(sql.settledBefore, [ids], signal);
  return new Map(
    rows.map((row) => [
      fenceOf({ jobId: row.job_id, attempt: row.attempt, workerId: row.worker_id }),
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
