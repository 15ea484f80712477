/** Workers as the store records them. */

import type { StoredReservation } from './capacity.ts';

export const WORKER_STATES = ['online', 'draining', 'offline'] as const;

export interface NewWorker {
  /** The name under which the worker is listed; host and pid by default. */
  name: string;
  /** In the process that owns an exclusive store, attached to the database, or connected over HTTP. */
  attachment: 'local' | 'direct' | 'remote';
  /** The instance of the process that runs it. */
  instanceId: string;
  host: string;
  pid: number | null;
  address: string | null;
  slots: number;
  queues: readonly string[] | null;
  commands: boolean;
  handlers: readonly string[];
  tags: readonly string[];
  /** Total capacity by name: memory_mb, gpu … */
  resources: Readonly<Record<string, number>>;
  leaseMs: number;
  version: string;
  /** The caller of the API that registered it; `null` for a worker in a process with the store. */
  registeredBy: string | null;
}

export interface WorkerRow extends NewWorker {
  id: number;
  state: (typeof WORKER_STATES)[number];
  registeredAt: number;
  /** The instant of the last heartbeat or of the registration. */
  seenAt: number;
  /** The number of jobs leased to the worker. */
  running: number;
  /** What these jobs take of its resources. */
  used: Readonly<Record<string, number>>;
  /** The job for which it holds what becomes free; `null` if there is none. */
  reserved: WorkerReservation | null;
}

export interface WorkerReservation extends Pick<StoredReservation, 'jobId' | 'startsAt'> {
  /** What the job needs. */
  resources: Readonly<Record<string, number>>;
}
