import type { Asker } from '../../../core/audit.ts';
import type { JobFilter } from '../../../core/job-filter.ts';
import type { NewOperation, Operation, OperationStep } from '../../../core/operation.ts';
import type { Context } from '../base/context.ts';
import { sql } from '../base/sql.ts';

interface StoredOperation {
  id: number;
  action: Operation['action'];
  filter: string;
  status: Operation['status'];
  total: number;
  asked_by: string | null;
  cursor: number | null;
  changed: number;
  skipped: number;
  created_at: number;
  ended_at: number | null;
}

export function createOperation(context: Context, { action, filter, total, askedBy }: NewOperation): Operation {
  const { database, now } = context;
  const asker = askedBy === null ? null : JSON.stringify(askedBy);
  const id = database.insert(sql.insertOperation, action, JSON.stringify(filter), total, asker, now);
  return operation(context, id) as Operation;
}

export function operation({ database }: Context, id: number): Operation | undefined {
  const row = database.get<StoredOperation>(sql.operation, id);
  return row === undefined ? undefined : decode(row);
}

export function openOperations({ database }: Context): Operation[] {
  return database.all<StoredOperation>(sql.openOperations).map(decode);
}

export function advanceOperation(
  { database, now }: Context,
  id: number,
  from: number | null,
  step: OperationStep,
): boolean {
  const { cursor, changed, skipped, status } = step;
  return database.run(sql.advanceOperation, id, from, cursor, changed, skipped, status, now) === 1;
}

function decode(row: StoredOperation): Operation {
  return {
    id: row.id,
    action: row.action,
    filter: JSON.parse(row.filter) as JobFilter,
    status: row.status,
    total: row.total,
    askedBy: row.asked_by === null ? null : (JSON.parse(row.asked_by) as Asker),
    cursor: row.cursor,
    changed: row.changed,
    skipped: row.skipped,
    createdAt: row.created_at,
    endedAt: row.ended_at,
  };
}
