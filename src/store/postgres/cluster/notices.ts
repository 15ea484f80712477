/** Notices, and the jobs that deliver their messages. */

import type { Job, TerminalStatus } from '../../../core/job.ts';
import { laneKey, laneOf } from '../../../core/lane.ts';
import type { Delivery, Notice, Notification, NotificationFilter } from '../../../core/notice.ts';
import { GATHER_MS, mergeMissed, type TickNotice } from '../../../core/schedule/tick-notices.ts';
import { type NoticeRow, type NotificationRow, noticeOf, notificationOf } from '../../notice-columns.ts';
import type { Context } from '../base/context.ts';
import type { Session } from '../base/database.ts';
import { numbers } from '../base/values.ts';
import { announce, insertRows } from '../jobs/insert-rows.ts';
import { giveTurnsTo } from '../jobs/turns.ts';

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

export async function insertTickNotices(
  { sql }: Context,
  session: Session,
  notices: readonly (TickNotice & { schedule: string })[],
): Promise<void> {
  if (notices.length === 0) return;
  const missed = new Map<string, TickNotice & { schedule: string }>();
  for (const notice of notices.filter(({ kind }) => kind === 'missed')) {
    const before = missed.get(notice.schedule);
    const detail = before === undefined ? notice.detail : mergeMissed(before.detail, notice.detail);
    missed.set(notice.schedule, { ...notice, detail });
  }
  const rows = [...missed.values(), ...notices.filter(({ kind }) => kind === 'late')].map((notice) => ({
    kind: notice.kind,
    due_at: notice.dueAt,
    job_id: notice.jobId,
    workflow_id: notice.workflowId,
    schedule: notice.schedule,
    detail: notice.detail,
  }));
  await session.query(sql.insertTickNotices, [JSON.stringify(rows), GATHER_MS]);
}

export async function notices({ database, sql }: Context, limit: number, signal: AbortSignal): Promise<Notice[]> {
  const rows = await database.query<NoticeRow<Notice['detail']>>(sql.notices, [limit], signal);
  return rows.map(noticeOf);
}

export async function postponeNotice(
  { database, sql }: Context,
  noticeId: number,
  forMs: number,
  signal: AbortSignal,
): Promise<void> {
  await database.transaction(signal, (session) => session.query(sql.postponeNotice, [noticeId, forMs]));
}

/** Deleting the notice locks it: of two concurrent deliveries, the second finds it deleted. */
export async function deliver(
  context: Context,
  noticeId: number,
  { alarm, messages }: Delivery,
  signal: AbortSignal,
): Promise<Job[] | undefined> {
  const { database, sql } = context;
  const lanes = await context.lanes.idsOf(
    messages.map(({ job }) => laneKey(laneOf(job))),
    signal,
  );
  const jobs = await database.transaction(signal, async (session) => {
    const [notice] = await session.query<NoticeRow<Notice['detail']>>(sql.takeNotice, [noticeId]);
    if (notice === undefined) return undefined;
    const cleared = alarm !== null && (await moveAlarm(context, session, alarm));
    const due = messages
      .map((message, place) => ({ ...message, lane: lanes[place] as number }))
      .filter(({ event }) => event !== 'recovered' || cleared);
    const stored = await insertRows(
      context,
      session,
      due.map(({ job }) => job),
      due.map(({ lane }) => lane),
    );
    await session.query(sql.insertNotifications, [
      numbers(stored.map(({ id }) => id)),
      due.map(({ event }) => event),
      notice.job_id,
      notice.workflow_id,
      notice.schedule,
    ]);
    await giveTurnsTo(context, session, { jobIds: stored.map(({ id }) => id), fairQueues: [] });
    return stored;
  });
  if (jobs !== undefined) announce(context, jobs);
  return jobs;
}

/** Raises or clears an alarm. Returns true if it was raised before and is cleared now. */
async function moveAlarm(
  { sql }: Context,
  session: Session,
  { subject, failing }: NonNullable<Delivery['alarm']>,
): Promise<boolean> {
  if (!failing) return (await session.query(sql.clearAlarm, [subject])).length > 0;
  await session.query(sql.raiseAlarm, [subject]);
  return false;
}

export async function notifications(
  { database, sql }: Context,
  about: NotificationFilter,
  signal: AbortSignal,
): Promise<Notification[]> {
  const { jobId, workflowId, schedule, deliveredBy } = about as Partial<
    Record<'jobId' | 'workflowId' | 'deliveredBy', number> & { schedule: string }
  >;
  const values = [jobId ?? null, workflowId ?? null, schedule ?? null, deliveredBy ?? null];
  const rows = await database.query<NotificationRow>(sql.notifications, values, signal);
  return rows.map(notificationOf);
}
