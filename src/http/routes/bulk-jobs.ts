import { BulkAnswer, BulkRequest } from '../../api/operation.ts';
import { defineRoute } from '../route.ts';
import { filterFromWire, operationToWire } from '../../api/state-wire.ts';

export const bulkJobs = defineRoute({
  method: 'POST',
  path: '/jobs/bulk',
  scope: 'operate',
  summary: 'Cancel or retry every job that matches; the operation can be watched',
  body: BulkRequest,
  answers: { 200: BulkAnswer, 202: BulkAnswer },
  async handle({ scheduler, body, now, signal }) {
    const dryRun = body.dry_run ?? false;
    const filter = filterFromWire(body.filter, now());
    const { total, operation } = await scheduler.bulk({ action: body.action, filter, dryRun }, signal);
    const json = { total, dry_run: dryRun, operation: operation === null ? null : operationToWire(operation) };
    if (operation === null) return { status: 200, json };
    return { status: 202, json, headers: { location: `/operations/${operation.id}` } };
  },
});
