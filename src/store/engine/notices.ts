/** Notices of events, and the jobs that deliver their messages. Missed ticks of a schedule share one notice until it is delivered. */

import type { Job, TerminalStatus } from '../../core/job.ts';
import type { Delivery, Notice, Notification, NotificationFilter } from '../../core/notice.ts';
import { GATHER_MS, mergeMissed, type TickNotice } from '../../core/schedule/tick-notices.ts';
import { columns } from '../sql/columns.ts';
import { after, anyOf, type Fragment, locking, now, raw, sql } from '../sql/sql.ts';
import { many, one, type Tx } from '../sql/tx.ts';

const notice = columns<Notice>({
  id: 'bigint',
  kind: 'text',
  dueAt: 'instant',
  createdAt: 'instant',
  jobId: 'bigint',
  workflowId: 'bigint',
  status: 'text',
  schedule: 'text',
  detail: 'json',
});

const notification = columns<Notification>({
  event: 'text',
  deliveredBy: 'bigint',
  jobId: 'bigint',
  workflowId: 'bigint',
  schedule: 'text',
  createdAt: 'instant',
});

function notices(tx: Tx, limit: number): Promise<Notice[]> {
  return tx.all(
    notice,
    sql`select ${notice} from notice where coalesce(look_at, due_at) <= ${now}
      order by coalesce(look_at, due_at), id limit ${limit}`,
  );
}

async function postponeNotice(tx: Tx, noticeId: number, forMs: number): Promise<void> {
  await tx.run(sql`update notice set look_at = ${after(now, forMs)} where id = ${noticeId}`);
}

/** Deleting the notice locks it: of two concurrent deliveries, the second finds it deleted. */
async function deliver(tx: Tx, noticeId: number, { alarm, messages }: Delivery): Promise<Job[] | undefined> {
  const about = await tx.get(notice, sql`delete from notice where id = ${noticeId} returning ${notice}`);
  if (about === undefined) return undefined;
  const cleared = alarm !== null && (await moveAlarm(tx, alarm));
  const due = messages.filter(({ event }) => event !== 'recovered' || cleared);
  if (due.length === 0) return [];
  const stored = await tx.insertJobs(due.map(({ job }) => job));
  const sent = stored.map(({ id }, place) => ({ deliveredBy: id, event: (due[place] as (typeof due)[number]).event }));
  const { jobId, workflowId, schedule } = about;
  await tx.run(
    sql`insert into notification ${notification.rows(sent, { jobId, workflowId, schedule, createdAt: now })}`,
  );
  return stored;
}

/** Raises or clears an alarm. Returns true if it was raised before and is cleared now. */
async function moveAlarm(tx: Tx, { subject, failing }: NonNullable<Delivery['alarm']>): Promise<boolean> {
  if (!failing) return (await tx.run(sql`delete from alarm where subject = ${subject}`)) > 0;
  await tx.run(sql`insert into alarm (subject, raised_at) values (${subject}, ${now})
    on conflict (subject) do update set raised_at = excluded.raised_at`);
  return false;
}

function notifications(tx: Tx, about: NotificationFilter): Promise<Notification[]> {
  return tx.all(
    notification,
    sql`select ${notification} from notification where ${isAbout(about)} order by delivered_by`,
  );
}

function isAbout(about: NotificationFilter): Fragment {
  if ('jobId' in about) return sql`job_id = ${about.jobId}`;
  if ('workflowId' in about) return sql`workflow_id = ${about.workflowId}`;
  return 'schedule' in about ? sql`schedule = ${about.schedule}` : sql`delivered_by = ${about.deliveredBy}`;
}

export interface EndNotice {
  jobId: number | null;
  workflowId: number | null;
  status: TerminalStatus;
}

export async function addEndNotices(tx: Tx, ended: readonly EndNotice[]): Promise<void> {
  const rows = ended as readonly Pick<Notice, 'jobId' | 'workflowId' | 'status'>[];
  const shared = { kind: raw(`'ended'`), dueAt: now, createdAt: now, detail: raw(`'{}'`) };
  await tx.run(sql`insert into notice ${notice.rows(rows, shared)}`);
}

type Told = TickNotice & { schedule: string };

/** The caller holds the locks of the schedules. */
export async function addTickNotices(tx: Tx, notices: readonly Told[]): Promise<void> {
  const late = notices.filter(({ kind }) => kind === 'late');
  if (late.length > 0) {
    const rows = late.map(({ dueAt, ...told }) => ({ ...told, dueAt: dueAt as number }));
    await tx.run(sql`insert into notice ${notice.rows(rows, { createdAt: now })}`);
  }
  const missed = new Map<string, Told>();
  for (const told of notices.filter(({ kind }) => kind === 'missed')) {
    const before = missed.get(told.schedule);
    missed.set(told.schedule, before === undefined ? told : merged(told, before.detail));
  }
  if (missed.size === 0) return;
  // Locked, so that it is not delivered without what is added here.
  const untold = await tx.all(
    notice,
    sql`select ${notice} from notice where kind = 'missed' and schedule ${anyOf([...missed.keys()], 'text')}
      order by id ${locking('for update')}`,
  );
  for (const { id, schedule, detail } of untold) {
    const added = missed.get(schedule as string) as Told;
    const set = notice.set({ detail: merged(added, detail).detail });
    await tx.run(sql`update notice set ${set} where id = ${id}`);
    missed.delete(added.schedule);
  }
  if (missed.size === 0) return;
  const rows = [...missed.values()].map(({ dueAt: _dueAt, ...told }) => told);
  await tx.run(sql`insert into notice ${notice.rows(rows, { createdAt: now, dueAt: after(now, GATHER_MS) })}`);
}

function merged(told: Told, before: Told['detail']): Told {
  return { ...told, detail: mergeMissed(before, told.detail) };
}

export const noticeMethods = {
  notices: one('urgent', notices),
  deliver: many('write', deliver),
  postponeNotice: one('write', postponeNotice),
  notifications: one('read', notifications),
};
