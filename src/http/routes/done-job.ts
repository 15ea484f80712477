import { Done, outcomeFromDone, SettleResult } from '../../api/settle.ts';
import { pathId } from '../path-id.ts';
import { type Call, defineRoute } from '../route.ts';
import { settleOne } from '../settle-one.ts';

export const doneJob = defineRoute({
  method: 'POST',
  path: '/jobs/:id/done',
  scope: 'work',
  summary: 'A worker reports that an attempt succeeded',
  body: Done,
  textFromJobs: true,
  bodyLimit: 2 * 1024 * 1024,
  quiet: true,
  answers: { 200: SettleResult },
  async handle(call) {
    const { worker_id: workerId, attempt } = call.body;
    const outcome = outcomeFromDone(call.body);
    return settleOne(call as Call, { jobId: pathId(call.params), attempt, workerId, outcome });
  },
});
