/** Workers as the store records them. */

export const WORKER_STATES = ['online', 'draining', 'offline'] as const;

export interface NewWorker {
  /** For people: host and pid unless told otherwise. */
  name: string;
  /** In the owning process of an exclusive store, attached to the database, or behind HTTP. */
  attachment: 'local' | 'direct' | 'remote';
  /** Of the process that runs it. */
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
}

export interface WorkerRow extends NewWorker {
  id: number;
  state: (typeof WORKER_STATES)[number];
  registeredAt: number;
  /** Of the last heartbeat, or of the registration. */
  seenAt: number;
  /** Jobs leased to it now. */
  running: number;
}
