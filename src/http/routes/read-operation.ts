import { Operation } from '../../api/operation.ts';
import { pathId } from '../path-id.ts';
import { defineRoute } from '../route.ts';
import { operationToWire } from '../../api/state-wire.ts';

export const readOperation = defineRoute({
  method: 'GET',
  path: '/operations/:id',
  scope: 'read',
  summary: 'How far a bulk operation has come',
  answers: { 200: Operation },
  async handle({ scheduler, params, signal }) {
    const operation = await scheduler.operation(pathId(params, 'operation_not_found'), signal);
    return { status: 200, json: operationToWire(operation) };
  },
});
