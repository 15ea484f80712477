/** Notices of ends. */

export const noticesSql = {
  insertNotice: `insert into notice (kind, due_at, created_at, job_id, workflow_id, status, schedule, detail)
    values (?, ?, ?, ?, ?, ?, ?, ?)`,
};
