import { Fail, outcomeFromFail, SettleResult } from '../../api/settle.ts';
import { pathId } from '../path-id.ts';
import { type Call, defineRoute } from '../route.ts';
import { settleOne } from '../settle-one.ts';

export const failJob = defineRoute({
  method: 'POST',
  path: '/jobs/:id/fail',
  scope: 'work',
  summary: 'A worker reports that an attempt failed; the scheduler decides whether there is another',
  body: Fail,
  textFromJobs: true,
  quiet: true,
  answers: { 200: SettleResult },
  async handle(call) {
    const { worker_id: workerId, attempt } = call.body;
    const outcome = outcomeFromFail(call.body);
    return settleOne(call as Call, { jobId: pathId(call.params), attempt, workerId, outcome });
  },
});
