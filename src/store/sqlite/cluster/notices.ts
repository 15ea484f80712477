/** Notices of ends. */

import type { TerminalStatus } from '../../../core/job.ts';
import type { Notice } from '../../../core/notice.ts';
import { isWatched } from '../../../core/notify.ts';
import { noticeFlag } from '../../flags.ts';
import type { Context } from '../base/context.ts';
import { sql } from '../base/sql.ts';
import { notifyOf, type WorkflowRow } from '../graph/workflow-row.ts';

type NewNotice = Pick<Notice, 'kind'> & Partial<Omit<Notice, 'id' | 'createdAt'>>;

function addNotice({ database, now }: Context, notice: NewNotice): void {
  const { kind, dueAt = now, jobId = null, workflowId = null, status = null, schedule = null, detail = {} } = notice;
  database.run(sql.insertNotice, kind, dueAt, now, jobId, workflowId, status, schedule, JSON.stringify(detail));
}

/** Writes notices of the ended jobs whose flags ask for one. */
export function noteEnds(
  context: Context,
  ended: readonly { jobId: number; flags: number; status: TerminalStatus }[],
): void {
  for (const { jobId, flags, status } of ended) {
    if (flags & noticeFlag(status)) {
      addNotice(context, { kind: 'ended', jobId, status: status as Notice['status'] });
    }
  }
}

export function noteWorkflowEnd(context: Context, row: WorkflowRow, status: string): void {
  if (!isWatched(notifyOf(row), status)) return;
  addNotice(context, { kind: 'ended', workflowId: row.id, status: status as Notice['status'] });
}
