/** Workers on the wire. */

import { z } from 'zod';
import { WORKER_STATES, type WorkerRow } from '../core/worker.ts';
import { pageQuery, toInstant, wireId, wireInstant } from './fields.ts';
import { named, pageOf, strict } from './schemas.ts';

export const Worker = named(
  'Worker',
  z.object({
    id: wireId,
    name: z.string(),
    state: z.enum(WORKER_STATES),
    attachment: z.enum(['local', 'direct', 'remote']),
    instance_id: z.string(),
    host: z.string(),
    pid: z.number().nullable(),
    address: z.string().nullable(),
    version: z.string(),
    registered_by: z
      .string()
      .nullable()
      .meta({ description: 'The caller that registered it; null for one with the store.' }),
    slots: z.number(),
    running: z.number(),
    queues: z.array(z.string()).nullable(),
    commands: z.boolean(),
    handlers: z.array(z.string()),
    tags: z.array(z.string()),
    resources: z.record(z.string(), z.number()),
    lease: z.number().meta({ description: 'Milliseconds.' }),
    registered_at: wireInstant,
    last_heartbeat: wireInstant,
  }),
);
export type Worker = z.output<typeof Worker>;

/** By id, oldest first. */
export const WorkerPage = named('WorkerPage', pageOf(Worker));

export const WorkerListQuery = strict(pageQuery({ longestCursor: 256, example: 'YWZ0ZXI6MjAw' }));

export function workerToWire(worker: WorkerRow): Worker {
  return {
    id: String(worker.id),
    name: worker.name,
    state: worker.state,
    attachment: worker.attachment,
    instance_id: worker.instanceId,
    host: worker.host,
    pid: worker.pid,
    address: worker.address,
    version: worker.version,
    registered_by: worker.registeredBy,
    slots: worker.slots,
    running: worker.running,
    queues: worker.queues === null ? null : [...worker.queues],
    commands: worker.commands,
    handlers: [...worker.handlers],
    tags: [...worker.tags],
    resources: { ...worker.resources },
    lease: worker.leaseMs,
    registered_at: toInstant(worker.registeredAt),
    last_heartbeat: toInstant(worker.seenAt),
  };
}
