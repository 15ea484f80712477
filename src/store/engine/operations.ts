/** Bulk operations: an action on all jobs that match a filter, and how far it has come. */

import type { NewOperation, Operation, OperationStep } from '../../core/operation.ts';
import { columns } from '../sql/columns.ts';
import { now, sql } from '../sql/sql.ts';
import { one, type Tx } from '../sql/tx.ts';

const stored = columns<Operation>({
  id: 'bigint',
  action: 'text',
  filter: 'json',
  status: 'text',
  total: 'bigint',
  askedBy: 'json',
  cursor: 'bigint',
  changed: 'bigint',
  skipped: 'bigint',
  createdAt: 'instant',
  endedAt: 'instant',
});

async function createOperation(tx: Tx, wanted: NewOperation): Promise<Operation> {
  const values = stored.values({ ...wanted, status: 'running', createdAt: now });
  return (await tx.get(stored, sql`insert into operation ${values} returning ${stored}`)) as Operation;
}

function operation(tx: Tx, id: number): Promise<Operation | undefined> {
  return tx.get(stored, sql`select ${stored} from operation where id = ${id}`);
}

function openOperations(tx: Tx): Promise<Operation[]> {
  return tx.all(stored, sql`select ${stored} from operation where status = 'running' order by id`);
}

async function advanceOperation(tx: Tx, id: number, from: number | null, step: OperationStep): Promise<boolean> {
  const { cursor, changed, skipped, status } = step;
  const end = stored.set({ cursor, status, endedAt: status === 'running' ? null : now });
  const written = await tx.run(sql`update operation
    set ${end}, changed = changed + ${changed}, skipped = skipped + ${skipped}
    where id = ${id} and cursor is not distinct from ${from} and status = 'running'`);
  return written === 1;
}

export const operations = {
  createOperation: one('write', createOperation),
  operation: one('urgent', operation),
  openOperations: one('urgent', openOperations),
  advanceOperation: one('write', advanceOperation),
};
