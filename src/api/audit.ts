/** The audit on the wire. */

import { z } from 'zod';
import type { AuditEntry as Stored } from '../core/audit.ts';
import { ERROR_CODES, type ErrorCode } from '../core/error.ts';
import { idPageQuery, instantOrAgo, storeId, text, toIdOrNull, toInstant, wireId, wireInstant } from './fields.ts';
import { named, pageOf, strict } from './schemas.ts';

const filter = {
  actor: text(128).exactOptional(),
  subject: text(1_024).exactOptional().meta({ description: 'A part of the subject, such as job/12.' }),
  from: instantOrAgo.exactOptional(),
  to: instantOrAgo.exactOptional(),
};
export const AuditFilterQuery = strict(filter);
export const AuditQuery = strict({
  ...idPageQuery,
  ...filter,
  part_of: storeId.exactOptional().meta({ description: 'The jobs of this bulk action, by the id of its entry.' }),
});
export type AuditQueryInput = z.input<typeof AuditQuery>;

export const AuditEntry = named(
  'AuditEntry',
  z.object({
    id: wireId,
    at: wireInstant,
    actor: z.string().meta({ description: 'The caller, such as the name of a token.' }),
    address: z.string(),
    action: z
      .string()
      .meta({ description: 'What was decided.', examples: ['job.cancel', 'queue.pause', 'jobs.retry'] }),
    subject: z
      .string()
      .nullable()
      .meta({ description: 'What it is about; null where that is not one thing.', examples: ['job/12', 'queue/mail'] }),
    result: z
      .enum(['ok', ...(Object.keys(ERROR_CODES) as ErrorCode[])])
      .nullable()
      .meta({
        description:
          'ok, or the code of the error; null if it is not known: the process ended before, or still works on it.',
      }),
    details: z
      .object({
        filter: z
          .record(z.string(), z.unknown())
          .exactOptional()
          .meta({ description: 'A bulk action: the jobs that it is about.' }),
        total: z.number().exactOptional().meta({ description: 'How many jobs matched.' }),
        from: z.string().exactOptional().meta({ description: 'A rerun of a workflow: the step that it starts from.' }),
        made: z
          .string()
          .exactOptional()
          .meta({ description: 'A rerun: what it made.', examples: ['job/13'] }),
      })
      .nullable(),
    part_of: wireId.nullable().meta({
      description:
        'The entry of the bulk action that this job was changed by. Lists have these only if they are asked for.',
    }),
    request_id: z.string(),
  }),
);
export type AuditEntry = z.output<typeof AuditEntry>;

export const AuditPage = named('AuditPage', pageOf(AuditEntry));
export type AuditPage = z.output<typeof AuditPage>;

export function auditToWire({ id, at, partOf, requestId, ...entry }: Stored): AuditEntry {
  const { actor, address, action, subject, result, details } = entry;
  const about = { actor, address, action, subject, result, details };
  return { id: String(id), at: toInstant(at), ...about, part_of: toIdOrNull(partOf), request_id: requestId };
}
