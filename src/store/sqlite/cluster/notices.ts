/** Notices, and the jobs that deliver their messages. */

import type { TerminalStatus } from '../../../core/job.ts';
import type { Delivery, Notice, Notification, NotificationFilter } from '../../../core/notice.ts';
import { isWatched, type NotifyEvent } from '../../../core/notify.ts';
import { GATHER_MS, mergeMissed, type TickNotice } from '../../../core/schedule/tick-notices.ts';
import { noticeFlag } from '../../flags.ts';
import { type NoticeRow, type NotificationRow, noticeOf, notificationOf } from '../../notice-columns.ts';
import type { Context } from '../base/context.ts';
import { sql } from '../base/sql.ts';
import { notifyOf, type WorkflowRow } from '../graph/workflow-row.ts';
import { insertAll } from '../jobs/insert.ts';
import type { NewJobRows } from '../jobs/new-job-row.ts';

type NewNotice = Pick<Notice, 'kind'> & Partial<Omit<Notice, 'id' | 'createdAt'>>;

function addNotice({ database, now }: Context, notice: NewNotice): void {
  const { kind, dueAt = now, jobId = null, workflowId = null, status = null, schedule = null, detail = {} } = notice;
  database.run(sql.insertNotice, kind, dueAt, now, jobId, workflowId, status, schedule, JSON.stringify(detail));
}

export function addTickNotice(context: Context, schedule: string, { dueAt, ...notice }: TickNotice): void {
  const { database, now } = context;
  if (notice.kind === 'late') return addNotice(context, { ...notice, schedule, dueAt: dueAt ?? now });
  const untold = database.get<{ id: number; detail: string }>(sql.untoldMissed, schedule);
  if (untold === undefined) return addNotice(context, { ...notice, schedule, dueAt: now + GATHER_MS });
  const detail = mergeMissed(JSON.parse(untold.detail) as TickNotice['detail'], notice.detail);
  database.run(sql.setNoticeDetail, untold.id, JSON.stringify(detail));
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

export function notices({ database, now }: Context, limit: number): Notice[] {
  return database
    .all<NoticeRow<string>>(sql.notices, now, limit)
    .map((row) => noticeOf({ ...row, detail: JSON.parse(row.detail) as Notice['detail'] }));
}

export function postponeNotice({ database, now }: Context, noticeId: number, forMs: number): void {
  database.run(sql.postponeNotice, noticeId, now + forMs);
}

interface DeliverInput extends Pick<Delivery, 'alarm'> {
  noticeId: number;
  /** The time at which the rows were encoded. */
  now: number;
  messages: ({ event: NotifyEvent } & NewJobRows)[];
}

/** Returns the ids of the jobs that deliver the messages. */
export function deliver(sent: Context, { noticeId, alarm, messages, now }: DeliverInput): number[] | undefined {
  const context = { ...sent, now };
  const { database } = context;
  const notice = database.get<NoticeRow<string>>(sql.takeNotice, noticeId);
  if (notice === undefined) return undefined;
  const cleared = alarm !== null && moveAlarm(context, alarm);
  return messages
    .filter(({ event }) => event !== 'recovered' || cleared)
    .map(({ event, rows, lanes }) => {
      const one = { rows: JSON.stringify(rows), count: 1, lanes, fairQueues: [], work: true, dueAt: null };
      const [id] = insertAll(context, one) as [number];
      database.run(sql.insertNotifications, id, event, notice.job_id, notice.workflow_id, notice.schedule, now);
      return id;
    });
}

/** Raises or clears an alarm. Returns true if it was raised before and is cleared now. */
function moveAlarm({ database, now }: Context, { subject, failing }: NonNullable<Delivery['alarm']>): boolean {
  if (!failing) return database.run(sql.clearAlarm, subject) > 0;
  database.run(sql.raiseAlarm, subject, now);
  return false;
}

export function notifications({ database }: Context, about: NotificationFilter): Notification[] {
  const {
    jobId = null,
    workflowId = null,
    schedule = null,
    deliveredBy = null,
  } = about as Partial<Record<'jobId' | 'workflowId' | 'deliveredBy', number> & { schedule: string }>;
  return database.all<NotificationRow>(sql.notifications, jobId, workflowId, schedule, deliveredBy).map(notificationOf);
}
