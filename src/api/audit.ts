/** The audit on the wire. */

import { z } from 'zod';
import type { AuditEntry as Stored } from '../core/audit.ts';
import { idPageQuery, instantOrAgo, text, toInstant, wireId, wireInstant } from './fields.ts';
import { named, pageOf, strict } from './schemas.ts';

const filter = {
  actor: text(128).exactOptional(),
  path: text(1_024).exactOptional().meta({ description: 'A part of the path, such as /jobs/12.' }),
  from: instantOrAgo.exactOptional(),
  to: instantOrAgo.exactOptional(),
};
export const AuditFilterQuery = strict(filter);
export const AuditQuery = strict({ ...idPageQuery, ...filter });
export type AuditQueryInput = z.input<typeof AuditQuery>;

export const AuditEntry = named(
  'AuditEntry',
  z.object({
    id: wireId,
    at: wireInstant,
    actor: z.string().meta({ description: 'The caller, such as the name of a token.' }),
    address: z.string(),
    action: z.string().meta({ description: 'The route.', examples: ['POST /jobs/:id/cancel'] }),
    path: z.string(),
    status: z.number().nullable().meta({
      description: 'The status of the reply; null if it is not known: the process ended before, or still works on it.',
    }),
    request_id: z.string(),
  }),
);
export type AuditEntry = z.output<typeof AuditEntry>;

export const AuditPage = named('AuditPage', pageOf(AuditEntry));
export type AuditPage = z.output<typeof AuditPage>;

export function auditToWire({ id, at, requestId, ...entry }: Stored): AuditEntry {
  const { actor, address, action, path, status } = entry;
  return { id: String(id), at: toInstant(at), actor, address, action, path, status, request_id: requestId };
}
