import type { NewOperation, Operation, OperationStep } from '../../../core/operation.ts';
import type { Tables } from '../base/tables.ts';

export function createOperation(tables: Tables, { action, filter, total, askedBy }: NewOperation): Operation {
  const operation: Operation = {
    id: (tables.lastId.operation += 1),
    action,
    filter: structuredClone(filter),
    total,
    askedBy: structuredClone(askedBy),
    status: 'running',
    cursor: null,
    changed: 0,
    skipped: 0,
    createdAt: tables.clock.now(),
    endedAt: null,
  };
  tables.operations.set(operation.id, operation);
  return structuredClone(operation);
}

export function operation(tables: Tables, id: number): Operation | undefined {
  return structuredClone(tables.operations.get(id));
}

export function openOperations(tables: Tables): Operation[] {
  return [...tables.operations.values()]
    .filter(({ status }) => status === 'running')
    .map((open) => structuredClone(open));
}

export function advanceOperation(tables: Tables, id: number, from: number | null, step: OperationStep): boolean {
  const operation = tables.operations.get(id);
  if (operation?.status !== 'running' || operation.cursor !== from) return false;
  operation.cursor = step.cursor;
  operation.changed += step.changed;
  operation.skipped += step.skipped;
  operation.status = step.status;
  if (step.status !== 'running') operation.endedAt = tables.clock.now();
  return true;
}
