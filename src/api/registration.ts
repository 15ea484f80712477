/** A worker registers with what it can run and gets its id. */

import { z } from 'zod';
import type { NewWorker } from '../core/worker.ts';
import { label, text, wholeNumber, wireId } from './fields.ts';
import { amounts, queueName, tagList } from './job-submission.ts';
import { named } from './schemas.ts';

/** The version of the worker protocol. It changes only when an old worker could cause damage. */
export const PROTOCOL = 1;

const names = z.array(label(256)).max(10_000);

export const Registration = named(
  'Registration',
  z.object({
    protocol: z.literal(PROTOCOL, `this scheduler speaks protocol ${PROTOCOL}`).default(PROTOCOL),
    name: label(256).meta({ description: 'For people, such as host and pid.' }),
    slots: wholeNumber(1, 100_000).default(1),
    queues: z.array(queueName).max(1_000).nullable().default(null).meta({ description: 'null: all queues.' }),
    commands: z.boolean().default(true),
    handlers: names.default([]),
    tags: tagList.default([]),
    resources: amounts.default({}).meta({ description: 'The total capacity by name.' }),
    host: label(256).exactOptional(),
    pid: wholeNumber(1, 2 ** 31 - 1).exactOptional(),
    address: text(512).exactOptional(),
    instance_id: label(128).exactOptional(),
    version: label(64).exactOptional(),
  }),
);
export type Registration = z.output<typeof Registration>;

export const Registered = named(
  'Registered',
  z.object({
    protocol: z.number(),
    worker_id: wireId,
    lease: z
      .number()
      .meta({ description: 'Milliseconds without a heartbeat after which its jobs are given to other workers.' }),
    heartbeat: z.number().meta({ description: 'Milliseconds between heartbeats.' }),
  }),
);
export type Registered = z.output<typeof Registered>;

export const Gone = named('Gone', z.object({ gone: z.literal(true) }));

export const Left = named('Left', z.object({ left: z.literal(true) }));

/** The worker that registers over HTTP; host and address default to the address that it calls from. */
export function workerFromWire(
  wire: Registration,
  remote: { address: string; leaseMs: number; registeredBy: string },
): NewWorker {
  return {
    name: wire.name,
    attachment: 'remote',
    instanceId: wire.instance_id ?? wire.name,
    host: wire.host ?? remote.address,
    pid: wire.pid ?? null,
    address: wire.address ?? remote.address,
    slots: wire.slots,
    queues: wire.queues,
    commands: wire.commands,
    handlers: wire.handlers,
    tags: [...new Set(wire.tags)],
    resources: wire.resources,
    leaseMs: remote.leaseMs,
    version: wire.version ?? 'unknown',
    registeredBy: remote.registeredBy,
  };
}
