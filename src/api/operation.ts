/** Bulk operations: one action on every job that matches a filter. */

import { z } from 'zod';
import { BULK_ACTIONS, type Operation as DomainOperation } from '../core/operation.ts';
import { toInstant, toInstantOrNull, wireId, wireInstant } from './fields.ts';
import { JobFilter } from './job-filter.ts';
import { named, strict } from './schemas.ts';

export const BulkRequest = named(
  'BulkRequest',
  strict({
    action: z.enum(BULK_ACTIONS),
    filter: JobFilter.meta({
      description: 'The same filter as for the list of jobs; {} matches every job, and needs all.',
    }),
    all: z.boolean().exactOptional().meta({ description: 'Needed with an empty filter: every job is meant.' }),
    dry_run: z.boolean().exactOptional().meta({ description: 'Only count the jobs that match.' }),
  }).refine(({ filter, all, dry_run }) => all || dry_run || Object.keys(filter).length > 0, {
    path: ['filter'],
    message: 'an empty filter matches every job: send "all": true if that is meant',
  }),
);
export type BulkRequestInput = z.input<typeof BulkRequest>;

export const Operation = named(
  'Operation',
  z.object({
    id: wireId,
    action: z.enum(BULK_ACTIONS),
    status: z.enum(['running', 'done', 'cancelled']),
    total: z.number().meta({ description: 'The number of jobs that matched when the operation was requested.' }),
    changed: z.number(),
    skipped: z.number().meta({ description: 'The number of jobs that matched but could not be changed.' }),
    created_at: wireInstant,
    ended_at: wireInstant.nullable(),
  }),
);
export type Operation = z.output<typeof Operation>;

export const BulkAnswer = named(
  'BulkAnswer',
  z.object({ total: z.number(), dry_run: z.boolean(), operation: Operation.nullable() }),
);
export type BulkAnswer = z.output<typeof BulkAnswer>;

export function operationToWire(operation: DomainOperation): Operation {
  return {
    id: String(operation.id),
    action: operation.action,
    status: operation.status,
    total: operation.total,
    changed: operation.changed,
    skipped: operation.skipped,
    created_at: toInstant(operation.createdAt),
    ended_at: toInstantOrNull(operation.endedAt),
  };
}
