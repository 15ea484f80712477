/** Ends successful jobs that are linked to others. */

import type { Success } from '../../../core/lease.ts';
import type { JobScope } from '../../engine/graph/graph-update.ts';
import type { Tx } from '../../sql/tx.ts';
import type { Context } from '../base/context.ts';
import { inTransaction } from '../base/engine.ts';
import { numbers } from '../base/values.ts';
import { columnsOf, type EndedColumns, type EndedRow, rowsOf } from '../jobs/settled-rows.ts';
import type { LinkedClaim } from './linked-claims.ts';

/** The number of linked jobs that end in one transaction. */
const PIECE = 500;

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

type LinkedById = ReadonlyMap<number, LinkedClaim>;

/** Ends linked jobs in pieces: children that the first piece frees can be claimed while the next piece runs. */
export async function endLinked(
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
  const columns = await inTransaction(context, signal, async (tx, session) => {
    const { locks, graphUpdate } = tx;
    if (lockFirst) await locks.withAffected(successes.map(({ jobId }) => jobId));
    lockFirst = true;
    // The statement locks children after their parents, not by id.
    locks.outOfOrder();
    const [columns] = await session.query<LinkedColumns>(sql.settleLinked, values);
    if (columns === undefined || columns.ids === null) return undefined;
    graphUpdate.at(columns.now);
    noteChildren(columns, tx);
    const { incomplete, propagated: children, counted } = columns;
    const propagated = { incomplete, children: new Set(children), counted: new Set(counted) };
    graphUpdate.succeeded(doneOf(columns, scopes), propagated);
    return columns;
  });
  // After the transaction: it may need a connection. If every connection were in a transaction that waits for another, none would proceed.
  return columns === undefined ? [] : await rowsOf(context.lanes, columns, signal);
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

function doneOf({ ids, flags }: LinkedColumns, scopes: ReadonlyMap<number, JobScope>) {
  return (ids ?? []).map((jobId, place) => {
    const { workflowId, groupId } = scopes.get(jobId) ?? { workflowId: null, groupId: null };
    return { jobId, flags: flags[place] as number, workflowId, groupId };
  });
}

function noteChildren({ propagated, pending, propagated_due }: LinkedColumns, { effects, graphUpdate }: Tx): void {
  for (const id of propagated ?? []) effects.changedJob(id);
  for (const id of pending ?? []) graphUpdate.jobIs(id, { status: 'pending', due: 0 });
  if (propagated_due !== null) effects.willBeDue(propagated_due);
}
