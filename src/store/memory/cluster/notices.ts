/** Notices, and the jobs that deliver their messages. */

import type { Job, TerminalStatus } from '../../../core/job.ts';
import type { Delivery, Notice, Notification, NotificationFilter } from '../../../core/notice.ts';
import { isWatched } from '../../../core/notify.ts';
import { GATHER_MS, mergeMissed, type TickNotice } from '../../../core/schedule/tick-notices.ts';
import { copyJson } from '../base/copy.ts';
import type { Entry } from '../base/entry.ts';
import type { Tables } from '../base/tables.ts';
import { toWorkflow, type WorkflowRow } from '../graph/workflow-row.ts';
import { insert } from '../jobs/insert.ts';

export interface NoticeRow extends Notice {
  /** When it is looked at next; later than `due` if it was postponed. */
  lookAt: number;
}

type NewNotice = Pick<Notice, 'kind'> & Partial<Omit<Notice, 'id' | 'createdAt'>>;

function addNotice(tables: Tables, notice: NewNotice): void {
  const now = tables.clock.now();
  const id = (tables.lastId.notice += 1);
  const nothing = { jobId: null, workflowId: null, status: null, schedule: null, detail: {} };
  tables.notices.set(id, { ...nothing, dueAt: now, lookAt: notice.dueAt ?? now, ...notice, id, createdAt: now });
}

export function addTickNotice(tables: Tables, schedule: string, { dueAt, ...notice }: TickNotice): void {
  if (notice.kind === 'late') return addNotice(tables, { ...notice, schedule, dueAt: dueAt ?? tables.clock.now() });
  const untold = [...tables.notices.values()].find((one) => one.kind === 'missed' && one.schedule === schedule);
  if (untold !== undefined) untold.detail = mergeMissed(untold.detail, notice.detail);
  else addNotice(tables, { ...notice, schedule, dueAt: tables.clock.now() + GATHER_MS });
}

export function noteEnd(tables: Tables, { id, groupId, spec }: Entry, status: TerminalStatus): void {
  if (groupId !== null || !isWatched(spec.notify, status)) return;
  addNotice(tables, { kind: 'ended', jobId: id, status: status as Notice['status'] });
}

export function noteWorkflowEnd(tables: Tables, row: WorkflowRow): void {
  const { status } = toWorkflow(row);
  if (!isWatched(row.notify, status)) return;
  addNotice(tables, { kind: 'ended', workflowId: row.id, status: status as Notice['status'] });
}

export function notices(tables: Tables, limit: number): Notice[] {
  const now = tables.clock.now();
  return [...tables.notices.values()]
    .filter(({ lookAt }) => lookAt <= now)
    .sort((a, b) => a.lookAt - b.lookAt || a.id - b.id)
    .slice(0, limit)
    .map(({ lookAt: _lookAt, ...notice }) => copyJson(notice));
}

export function postponeNotice(tables: Tables, noticeId: number, forMs: number): void {
  const notice = tables.notices.get(noticeId);
  if (notice !== undefined) notice.lookAt = tables.clock.now() + forMs;
}

export function deliver(tables: Tables, noticeId: number, { alarm, messages }: Delivery): Job[] | undefined {
  const notice = tables.notices.get(noticeId);
  if (notice === undefined) return undefined;
  tables.notices.delete(noticeId);
  const cleared = alarm !== null && moveAlarm(tables, alarm);
  const due = messages.filter(({ event }) => event !== 'recovered' || cleared);
  const { items } = insert(
    tables,
    due.map(({ job }) => job),
    {},
  );
  items.forEach(({ job }, index) => {
    tables.notifications.set(job.id, {
      event: (due[index] as (typeof due)[number]).event,
      deliveredBy: job.id,
      jobId: notice.jobId,
      workflowId: notice.workflowId,
      schedule: notice.schedule,
      createdAt: job.createdAt,
    });
  });
  return items.map(({ job }) => job);
}

/** Raises or clears an alarm. Returns true if it was raised before and is cleared now. */
function moveAlarm(tables: Tables, { subject, failing }: NonNullable<Delivery['alarm']>): boolean {
  if (!failing) return tables.alarms.delete(subject);
  tables.alarms.set(subject, tables.clock.now());
  return false;
}

export function notifications(tables: Tables, about: NotificationFilter): Notification[] {
  return [...tables.notifications.values()].filter((sent) =>
    Object.entries(about).every(([key, value]) => sent[key as keyof Notification] === value),
  );
}
