/** What a caller decided, as an entry of the audit has it. */

import type { AuditEntry } from '../audit.ts';

/** Such as `job.cancel job/12`, or `jobs.cancel 511 jobs, status:failed queue:mail`. */
export function decisionText({ action, subject, details }: Pick<AuditEntry, 'action' | 'subject' | 'details'>): string {
  const { filter = {}, total, from, made } = details ?? {};
  const fields = Object.entries(filter).map(([field, value]) => `${field}:${String(value)}`);
  return [
    action,
    subject ?? [],
    total === undefined ? [] : `${total} ${total === 1 ? 'job' : 'jobs'}${fields.length > 0 ? ',' : ''}`,
    fields,
    from === undefined ? [] : `from ${from}`,
    made === undefined ? [] : `as ${made}`,
  ]
    .flat()
    .join(' ');
}
