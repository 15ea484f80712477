/** The audit: a page of it, or all that matches as JSON lines. */

import { AuditFilterQuery, AuditPage, AuditQuery, auditToWire } from '../../api/audit.ts';
import { resolveInstant } from '../../api/fields.ts';
import { routes } from '../../api/routes.ts';
import type { AuditFilter } from '../../core/audit.ts';
import type { Scheduler } from '../../scheduler/scheduler.ts';
import { releaseAfter } from '../concurrency-limit.ts';
import { beforeFrom, DEFAULT_PAGE_SIZE, toCursor } from '../cursor.ts';
import { handler } from '../handler.ts';

const LINES_TYPE = 'application/x-ndjson';
const EXPORT_PAGE = 1_000;

export const auditHandlers = {
  listAudit: handler(routes.listAudit, {
    summary: 'List who decided what, when, from where and with which result, newest first',
    query: AuditQuery,
    replies: { 200: AuditPage },
    async handle({ scheduler, query, now, signal }) {
      const { limit = DEFAULT_PAGE_SIZE, cursor, part_of: partOf, ...asked } = query;
      // One line for a bulk action, unless its jobs or one of them are asked for.
      const parts = partOf === undefined && asked.subject !== undefined ? {} : { partOf: partOf ?? null };
      const page = { before: beforeFrom(cursor), limit: limit + 1 };
      const items = await scheduler.audit({ ...filterOf(asked, now()), ...parts }, page, signal);
      const shown = items.slice(0, limit);
      const next = items.length > limit ? (shown.at(-1)?.id ?? null) : null;
      return { status: 200, json: { items: shown.map(auditToWire), next_cursor: toCursor(next) } };
    },
  }),

  exportAudit: handler(routes.exportAudit, {
    summary: 'Read all entries of the audit that match, newest first, one JSON object per line',
    query: AuditFilterQuery,
    long: true,
    replies: { 200: { type: LINES_TYPE } },
    handle({ scheduler, query, now, streams, remoteAddress, signal }) {
      const lines = linesOf(scheduler, filterOf(query, now()), signal);
      return { status: 200, type: LINES_TYPE, chunks: releaseAfter(streams.take(remoteAddress), lines) };
    },
  }),
};

type Asked = ReturnType<typeof AuditFilterQuery.parse>;

function filterOf({ actor, subject, from, to }: Asked, now: number): AuditFilter {
  return {
    ...(actor !== undefined && { actor }),
    ...(subject !== undefined && { subject }),
    ...(from !== undefined && { from: resolveInstant(from, now) }),
    ...(to !== undefined && { to: resolveInstant(to, now) }),
  };
}

async function* linesOf(scheduler: Scheduler, filter: AuditFilter, signal: AbortSignal): AsyncGenerator<string> {
  let before: number | null = null;
  for (;;) {
    const items = await scheduler.audit(filter, { before, limit: EXPORT_PAGE }, signal);
    yield items.map((entry) => `${JSON.stringify(auditToWire(entry))}\n`).join('');
    before = items.at(-1)?.id ?? null;
    if (items.length < EXPORT_PAGE) return;
  }
}
