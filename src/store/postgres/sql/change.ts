/** Changes of jobs other than claim and settle: requeue, end, cancel, retry, edit. */

import { statusOf } from './standing.ts';

export function changeSql(s: string) {
  return {
    askToStop: `update ${s}.live l set cancel_requested_at = ${s}.now()
      where l.job_id = any($1::bigint[]) and ${statusOf('l')} = 'running' and l.cancel_requested_at is null
      returning l.job_id, l.worker_id`,
  };
}
