/** Notices and notifications as both databases store them. */

import type { Notice, Notification } from '../core/notice.ts';
import type { NotifyEvent } from '../core/notify.ts';

export interface NoticeRow<Detail> {
  id: number;
  kind: Notice['kind'];
  due: number;
  created_at: number;
  job_id: number | null;
  workflow_id: number | null;
  status: Notice['status'];
  schedule: string | null;
  detail: Detail;
}

export function noticeOf(row: NoticeRow<Notice['detail']>): Notice {
  return {
    id: row.id,
    kind: row.kind,
    dueAt: row.due,
    createdAt: row.created_at,
    jobId: row.job_id,
    workflowId: row.workflow_id,
    status: row.status,
    schedule: row.schedule,
    detail: row.detail,
  };
}

export interface NotificationRow {
  job_id: number;
  event: NotifyEvent;
  subject_job_id: number | null;
  workflow_id: number | null;
  schedule: string | null;
  created_at: number;
}

export function notificationOf(row: NotificationRow): Notification {
  return {
    event: row.event,
    deliveredBy: row.job_id,
    jobId: row.subject_job_id,
    workflowId: row.workflow_id,
    schedule: row.schedule,
    createdAt: row.created_at,
  };
}
