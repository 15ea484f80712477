import { AuditPage, AuditQuery, auditToWire } from '../../api/audit.ts';
import { resolveInstant } from '../../api/fields.ts';
import { routes } from '../../api/routes.ts';
import { beforeFrom, DEFAULT_PAGE_SIZE, toCursor } from '../cursor.ts';
import { handler } from '../handler.ts';

export const auditHandlers = {
  listAudit: handler(routes.listAudit, {
    summary: 'List who changed what, when, from where and with which result, newest first',
    query: AuditQuery,
    replies: { 200: AuditPage },
    async handle({ scheduler, query, now, signal }) {
      const { limit = DEFAULT_PAGE_SIZE, cursor, actor, path, from, to } = query;
      const filter = {
        ...(actor !== undefined && { actor }),
        ...(path !== undefined && { path }),
        ...(from !== undefined && { from: resolveInstant(from, now()) }),
        ...(to !== undefined && { to: resolveInstant(to, now()) }),
      };
      const items = await scheduler.audit(filter, { before: beforeFrom(cursor), limit: limit + 1 }, signal);
      const shown = items.slice(0, limit);
      const next = items.length > limit ? (shown.at(-1)?.id ?? null) : null;
      return { status: 200, json: { items: shown.map(auditToWire), next_cursor: toCursor(next) } };
    },
  }),
};
