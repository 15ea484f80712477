import { isTerminal } from '../../../core/job.ts';
import type { Retention } from '../../duty-store.ts';
import type { Heap } from '../../heap.ts';
import { IDEMPOTENCY_MS } from '../../job-store.ts';
import type { Entry } from '../base/entry.ts';
import type { Tables } from '../base/tables.ts';
import { cutOff } from '../graph/edges.ts';
import { toWorkflow, type WorkflowRow } from '../graph/workflow-row.ts';
import { isUnused } from '../jobs/meters.ts';
import { dropKey, isOver } from '../jobs/unique.ts';
import type { TickRow } from '../schedules/rows.ts';

export function prune(tables: Tables, retention: Retention, limit: number): number {
  const now = tables.clock.now();
  forget(tables.uniqueKeys, (held) => isOver(held, now));
  forget(tables.idempotency, (answer) => answer.createdAt + IDEMPOTENCY_MS <= now);
  forget(tables.stats, (row) => row.minute < now - retention.statsMs);
  forget(tables.meters, (row, name) => isUnused(tables, name, row));
  const placed = new Set([...tables.places.values()].map(({ gangId }) => gangId));
  forget(tables.gangs, ({ jobId }, id) => !tables.jobs.has(jobId) && !placed.has(id));
  forget(tables.alarms, (raisedAt) => raisedAt < now - retention.otherMs);
  let count = pruneEnded(tables, tables.done, now - retention.doneMs, limit);
  count += pruneEnded(tables, tables.undone, now - retention.otherMs, limit - count);
  return count + pruneWorkflows(tables, retention, limit - count);
}

function pruneEnded(tables: Tables, ended: Heap<Entry>, before: number, limit: number): number {
  const needed: Entry[] = [];
  let count = 0;
  for (let oldest = ended.peek(); oldest !== undefined; oldest = ended.peek()) {
    if (count >= limit || (oldest.doneAt ?? 0) >= before) break;
    ended.delete(oldest);
    if (isNeeded(tables, oldest)) {
      needed.push(oldest);
      continue;
    }
    remove(tables, oldest);
    count += 1;
  }
  for (const entry of needed) ended.add(entry);
  return count;
}

/** Deletes each workflow as a whole, so the last one may exceed the limit. */
function pruneWorkflows(tables: Tables, { doneMs, otherMs }: Retention, limit: number): number {
  const now = tables.clock.now();
  let count = 0;
  for (const row of tables.workflows.values()) {
    if (count >= limit) break;
    if (row.endedAt === null || row.endedAt >= now - (toWorkflow(row).status === 'done' ? doneMs : otherMs)) continue;
    if ([...row.jobs].some((entry) => isNeeded(tables, entry))) continue;
    removeWorkflow(tables, row);
    count += row.jobs.size;
  }
  return count;
}

/** Deletes an ended workflow with its jobs. */
export function removeWorkflow(tables: Tables, row: WorkflowRow): void {
  if (row.line !== null) keepOutcome(tables, { workflowId: row.id }, toWorkflow(row).status);
  for (const entry of row.jobs) remove(tables, entry);
  tables.workflows.delete(row.id);
  forget(tables.notifications, ({ workflowId }) => workflowId === row.id);
}

/** True if an unfinished job depends on it. */
export function isNeeded(tables: Tables, { children }: Entry): boolean {
  return children.keys().some((id) => !isTerminal((tables.jobs.get(id) as Entry).status));
}

/** The ledger outlives the runs: it keeps how they ended. */
function keepOutcome(
  { ticks }: Tables,
  { jobId, workflowId }: { jobId?: number; workflowId?: number },
  outcome: TickRow['outcome'],
): void {
  const row = ticks
    .values()
    .find((tick) => (jobId === undefined ? tick.workflowId === workflowId : tick.jobId === jobId));
  if (row !== undefined) row.outcome = outcome;
}

/** Deletes an ended job that is not among `done` and `undone` any more. */
export function remove(tables: Tables, entry: Entry): void {
  if (entry.spec.tick !== null && entry.workflowId === null) keepOutcome(tables, { jobId: entry.id }, entry.status);
  cutOff(tables, entry);
  tables.cascade.delete(entry);
  dropKey(tables, entry, ['time']);
  tables.jobs.delete(entry.id);
  tables.notifications.delete(entry.id);
  if (entry.spec.notify.length > 0) forget(tables.notifications, ({ jobId }) => jobId === entry.id);
}

function forget<K, V>(rows: Map<K, V>, isOld: (row: V, key: K) => boolean): void {
  for (const [key, row] of rows) if (isOld(row, key)) rows.delete(key);
}
