import type { Asker } from '../../../core/audit.ts';
import type { NewOperation, Operation, OperationStep } from '../../../core/operation.ts';
import type { Context } from '../base/context.ts';

type Row = Omit<Operation, 'createdAt' | 'endedAt' | 'askedBy'> & {
  created_at: number;
  ended_at: number | null;
  asked_by: Asker | null;
};

export async function createOperation(
  { database, sql }: Context,
  { action, filter, total, askedBy }: NewOperation,
  signal: AbortSignal,
): Promise<Operation> {
  const values = [action, JSON.stringify(filter), total, askedBy === null ? null : JSON.stringify(askedBy)];
  const [row] = await database.query<Row>(sql.insertOperation, values, signal);
  return decode(row as Row);
}

export async function operation(
  { database, sql }: Context,
  id: number,
  signal: AbortSignal,
): Promise<Operation | undefined> {
  const [row] = await database.query<Row>(sql.operation, [id], signal);
  return row === undefined ? undefined : decode(row);
}

export async function openOperations({ database, sql }: Context, signal: AbortSignal): Promise<Operation[]> {
  const rows = await database.query<Row>(sql.openOperations, [], signal);
  return rows.map(decode);
}

export async function advanceOperation(
  { database, sql }: Context,
  id: number,
  from: number | null,
  step: OperationStep,
  signal: AbortSignal,
): Promise<boolean> {
  const values = [id, from, step.cursor, step.changed, step.skipped, step.status];
  const rows = await database.transaction(signal, (session) => session.query(sql.advanceOperation, values));
  return rows.length > 0;
}

function decode({ created_at, ended_at, asked_by, ...row }: Row): Operation {
  return { ...row, askedBy: asked_by, createdAt: created_at, endedAt: ended_at };
}
