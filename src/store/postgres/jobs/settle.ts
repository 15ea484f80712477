import type { Settled, Start, Success } from '../../../core/lease.ts';
import type { Context } from '../base/context.ts';
import { jsons, numbers } from '../base/values.ts';
import { TransactionEffects } from '../graph/effects.ts';
import { GraphUpdate, type SucceededJob } from '../graph/graph-update.ts';
import type { JobScope, LinkedClaim } from '../graph/linked-claims.ts';
import { Locks } from '../graph/locks.ts';
import { retryTransaction } from '../graph/retry-transaction.ts';

/** The number of linked jobs that end in one transaction. */
const PIECE = 500;

interface EndedRow {
  job_id: number;
  attempt: number;
  worker_id: number;
  lane: number;
  due: number;
  started_at: number;
  now: number;
}

/** Arrays of equal length, one element per job; `null` if no job was ended. */
interface EndedColumns {
  now: number;
  ids: number[] | null;
  attempts: number[];
  workers: number[];
  lanes: number[];
  dues: number[];
  starts: number[];
}

interface LinkedColumns extends EndedColumns {
  flags: number[];
  /** Children that were updated. */
  propagated: number[] | null;
  /** Updated children that can be claimed now. */
  pending: number[] | null;
  /** The earliest due time of the updated children that are scheduled. */
  propagated_due: number | null;
  /** Some children were left out. */
  incomplete: boolean;
  /** Workflows whose counts were updated. */
  counted: number[] | null;
}

interface EarlierRow extends Omit<EndedRow, 'lane' | 'now'> {
  queue: string;
  ended_at: number;
}

/**
 * Ends jobs that are not linked to others in one statement. The jobs that are left are linked, or their lease is lost. Linked
 * jobs end in transactions.
 */
export async function settle(context: Context, successes: readonly Success[], signal: AbortSignal): Promise<Settled[]> {
  const keyOf = keyFor(successes);
  const first = firstOfEach(successes, keyOf);
  const linked = new Map<number, LinkedClaim>();
  const simple = first.filter(({ jobId }) => {
    const claim = context.linkedClaims.take(jobId);
    if (claim !== undefined) linked.set(jobId, claim);
    return claim === undefined;
  });
  const rows = simple.length === 0 ? [] : await endSimple(context, simple, signal);
  if (rows.length < first.length) {
    const ended = new Set(rows.map(({ job_id }) => job_id));
    const left = first.filter(({ jobId }) => !ended.has(jobId));
    rows.push(...(await endLinked(context, left, linked, signal)));
  }
  const fresh = await answered(context, rows, keyOf, signal);
  const answers = successes.map((success): Settled | undefined => {
    const answer = fresh.get(keyOf(success));
    // If a call has the same report twice, only the first one is fresh.
    fresh.delete(keyOf(success));
    return answer;
  });
  const open = successes.filter((_, index) => answers[index] === undefined);
  if (open.length === 0) return answers as Settled[];
  const earlier = await endedBefore(context, open, signal);
  return answers.map(
    (answer, index) => answer ?? earlier.get(attemptKey(successes[index] as Success)) ?? { result: 'lease_lost' },
  );
}

type AttemptRef = Pick<Success, 'jobId' | 'attempt' | 'workerId'>;
type KeyOf = (attempt: AttemptRef) => number | string;

function attemptKey({ jobId, attempt, workerId }: AttemptRef): string {
  return `${jobId} ${attempt} ${workerId}`;
}

/** Returns the key by which a report is found: the job's id if each job has one report, otherwise the whole attempt. */
function keyFor(successes: readonly Success[]): KeyOf {
  const jobs = new Set(successes.map(({ jobId }) => jobId));
  return jobs.size === successes.length ? ({ jobId }) => jobId : attemptKey;
}

/** Returns each report once, sorted by job id: the jobs are locked in this order. */
function firstOfEach(successes: readonly Success[], keyOf: KeyOf): Success[] {
  const first = new Map<number | string, Success>();
  for (const success of successes) {
    const key = keyOf(success);
    if (!first.has(key)) first.set(key, success);
  }
  return [...first.values()].sort((a, b) => a.jobId - b.jobId);
}

async function endSimple(context: Context, successes: readonly Success[], signal: AbortSignal): Promise<EndedRow[]> {
  const [columns] = await context.database.query<EndedColumns>(context.sql.settle, columnsOf(successes), signal);
  return columns === undefined ? [] : rowsOf(columns);
}

type LinkedById = ReadonlyMap<number, LinkedClaim>;

/** Ends linked jobs in pieces: children that the first piece frees can be claimed while the next piece runs. */
async function endLinked(
  context: Context,
  successes: readonly Success[],
  known: LinkedById,
  signal: AbortSignal,
): Promise<EndedRow[]> {
  const rows: EndedRow[] = [];
  const scopes = await scopesOf(context, successes, known, signal);
  for (let start = 0; start < successes.length; start += PIECE) {
    const piece = successes.slice(start, start + PIECE);
    const ended = await endPiece(context, piece, scopes, signal);
    rememberSuccesses(context, piece, { rows: ended, known });
    rows.push(...ended);
  }
  return rows;
}

/** Returns the scopes of jobs. Reads those of jobs that this process did not claim. */
async function scopesOf(
  { database, sql }: Context,
  successes: readonly Success[],
  known: LinkedById,
  signal: AbortSignal,
): Promise<ReadonlyMap<number, JobScope>> {
  const unknown = successes.filter(({ jobId }) => !known.has(jobId)).map(({ jobId }) => jobId);
  if (unknown.length === 0) return known;
  type Row = { id: number; workflow_id: number | null; group_id: number | null };
  const rows = await database.query<Row>(sql.scopes, [numbers(unknown)], signal);
  const found = rows.map(
    ({ id, workflow_id, group_id }) => [id, { workflowId: workflow_id, groupId: group_id }] as const,
  );
  return new Map<number, JobScope>([...known, ...found]);
}

/**
 * Ends the jobs and updates children, group and workflow. The first try locks as it goes; a retry locks everything first.
 */
async function endPiece(
  context: Context,
  successes: readonly Success[],
  scopes: ReadonlyMap<number, JobScope>,
  signal: AbortSignal,
): Promise<EndedRow[]> {
  const { sql } = context;
  const values = [...columnsOf(successes), workflowsOf(successes, scopes)];
  let lockFirst = false;
  const { rows, effects } = await retryTransaction(context, signal, async (session) => {
    const effects = new TransactionEffects();
    const locks = new Locks(context, session);
    if (lockFirst) await locks.withAffected(successes.map(({ jobId }) => jobId));
    lockFirst = true;
    // The statement locks children after their parents, not by id.
    locks.outOfOrder();
    const [columns] = await session.query<LinkedColumns>(sql.settleLinked, values);
    if (columns === undefined || columns.ids === null) return { rows: [], effects };
    effects.at(columns.now);
    noteChildren(columns, effects);
    const update = new GraphUpdate(context, { session, locks, effects });
    const { incomplete, propagated: children, counted } = columns;
    const propagated = { incomplete, children: new Set(children), counted: new Set(counted) };
    update.succeeded(doneOf(columns, scopes), propagated);
    await update.write();
    await effects.write(context, session);
    return { rows: rowsOf(columns), effects };
  });
  effects.publish(context);
  return rows;
}

/** Caches successes for claims of their children. */
function rememberSuccesses(
  { recentSuccesses }: Context,
  successes: readonly Success[],
  { rows, known }: { rows: readonly EndedRow[]; known: LinkedById },
): void {
  const withResult = new Set(successes.flatMap(({ jobId, result }) => (result == null ? [] : [jobId])));
  for (const { job_id } of rows) {
    const claim = known.get(job_id);
    if (claim !== undefined && !withResult.has(job_id)) recentSuccesses.remember(job_id, claim.key);
  }
}

/** Returns the workflow of each job, 0 for none. `null` if any job is an item: then groups are counted before workflows. */
function workflowsOf(successes: readonly Success[], scopes: ReadonlyMap<number, JobScope>): string | null {
  const all = successes.map(({ jobId }) => scopes.get(jobId));
  if (all.some((scope) => scope?.groupId != null)) return null;
  return numbers(all.map((scope) => scope?.workflowId ?? 0));
}

function doneOf({ ids, flags }: LinkedColumns, scopes: ReadonlyMap<number, JobScope>): SucceededJob[] {
  return (ids ?? []).map((jobId, place) => {
    const { workflowId, groupId } = scopes.get(jobId) ?? { workflowId: null, groupId: null };
    return { jobId, flags: flags[place] as number, workflowId, groupId };
  });
}

function noteChildren({ propagated, pending, propagated_due }: LinkedColumns, effects: TransactionEffects): void {
  for (const id of propagated ?? []) effects.changedJob(id);
  for (const id of pending ?? []) effects.jobIs(id, { status: 'pending', due: 0 });
  if (propagated_due !== null) effects.willBeDue(propagated_due);
}

function columnsOf(successes: readonly Success[]): unknown[] {
  return [
    numbers(successes.map(({ jobId }) => jobId)),
    numbers(successes.map(({ attempt }) => attempt)),
    numbers(successes.map(({ workerId }) => workerId)),
    numbers(successes.map(({ exitCode }) => exitCode)),
    jsons(successes.map(({ result }) => result)),
    numbers(successes.map(({ startedAt }) => startedAt ?? null)),
  ];
}

async function answered(
  { lanes, hints }: Context,
  rows: readonly EndedRow[],
  keyOf: KeyOf,
  signal: AbortSignal,
): Promise<Map<number | string, Settled>> {
  // An end makes room only where the number of running jobs is limited.
  hints.announce({ work: lanes.anyLimited && rows.length > 0, jobs: rows.map((row) => row.job_id) });
  if (rows.some(({ lane }) => lanes.lane(lane) === undefined)) await lanes.refresh(signal);
  return new Map(
    rows.map((row) => [
      keyOf({ jobId: row.job_id, attempt: row.attempt, workerId: row.worker_id }),
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
export async function start({ database, sql }: Context, starts: readonly Start[], signal: AbortSignal): Promise<void> {
  const inOrder = [...starts].sort((a, b) => a.jobId - b.jobId);
  const columns = [
    numbers(inOrder.map(({ jobId }) => jobId)),
    numbers(inOrder.map(({ attempt }) => attempt)),
    numbers(inOrder.map(({ workerId }) => workerId)),
    numbers(inOrder.map(({ startedAt }) => startedAt)),
  ];
  await database.queryReserved(sql.startJobs, columns, signal);
}
