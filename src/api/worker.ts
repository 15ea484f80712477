/** Workers on the wire. */

import { z } from 'zod';
import { type WorkerReservation as CoreReservation, WORKER_STATES, type WorkerRow } from '../core/worker.ts';
import { pageQuery, toInstant, wireId, wireInstant } from './fields.ts';
import { named, pageOf, strict } from './schemas.ts';

const WorkerReservation = named(
  'WorkerReservation',
  z
    .object({
      job_id: wireId,
      resources: z.record(z.string(), z.number()).meta({ description: 'What the job needs.' }),
      starts_at: wireInstant.nullable().meta({
        description: 'When the job is expected to start at the latest; null if a run without a known end comes first.',
      }),
    })
    .meta({ description: 'The job for which the worker holds what becomes free.' }),
);

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
    running: z.number().meta({ description: 'Jobs in its slots.' }),
    held: z.number().meta({ description: 'Jobs it holds a lease on: running, on their way in, or not yet settled.' }),
    queues: z.array(z.string()).nullable(),
    commands: z.boolean(),
    handlers: z.array(z.string()),
    tags: z.array(z.string()),
    resources: z.record(z.string(), z.number()).meta({ description: 'The total capacity by name.' }),
    used: z.record(z.string(), z.number()).meta({ description: 'What its running jobs take of it.' }),
    reserved: WorkerReservation.nullable(),
    lease: z.number().meta({ description: 'Milliseconds.' }),
    registered_at: wireInstant,
    last_heartbeat: wireInstant,
  }),
);
export type Worker = z.output<typeof Worker>;

/** By id, oldest first. */
export const WorkerPage = named('WorkerPage', pageOf(Worker));

export const WorkerListQuery = strict(pageQuery({ maxCursorLength: 256, example: 'YWZ0ZXI6MjAw' }));

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
    running: Math.min(worker.running, worker.slots),
    held: worker.running,
    queues: worker.queues === null ? null : [...worker.queues],
    commands: worker.commands,
    handlers: [...worker.handlers],
    tags: [...worker.tags],
    resources: { ...worker.resources },
    used: { ...worker.used },
    reserved: worker.reserved === null ? null : reservationToWire(worker.reserved),
    lease: worker.leaseMs,
    registered_at: toInstant(worker.registeredAt),
    last_heartbeat: toInstant(worker.seenAt),
  };
}

function reservationToWire({ jobId, resources, startsAt }: CoreReservation): Worker['reserved'] {
  return {
    job_id: String(jobId),
    resources: { ...resources },
    starts_at: startsAt === null ? null : toInstant(startsAt),
  };
}
