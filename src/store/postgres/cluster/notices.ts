/** Notices of ends. */

import type { TerminalStatus } from '../../../core/job.ts';
import type { Context } from '../base/context.ts';
import type { Session } from '../base/database.ts';
import { numbers } from '../base/values.ts';

export interface EndNotice {
  jobId: number | null;
  workflowId: number | null;
  status: TerminalStatus;
}

export async function insertNotices(sql: Context['sql'], session: Session, ended: readonly EndNotice[]): Promise<void> {
  await session.query(sql.insertEndNotices, [
    numbers(ended.map(({ jobId }) => jobId)),
    numbers(ended.map(({ workflowId }) => workflowId)),
    ended.map(({ status }) => status),
  ]);
}
