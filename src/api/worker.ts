import { z } from 'zod';
import { wireId, wireInstant } from './fields.ts';
import { itemsOf, named } from './schemas.ts';

export const Worker = named(
  'Worker',
  z.object({
    id: wireId,
    name: z.string(),
    state: z.enum(['online', 'draining', 'offline']),
    attachment: z.enum(['local', 'direct', 'remote']),
    instance_id: z.string(),
    host: z.string(),
    pid: z.number().nullable(),
    address: z.string().nullable(),
    version: z.string(),
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

export const WorkerList = named('WorkerList', itemsOf(Worker));
