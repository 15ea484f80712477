/** Queues, workers, instances and who leads which duty. */

import type { Duty } from '../core/duty.ts';
import type { InstanceRow, NewInstance } from '../core/instance.ts';
import type { DutyState, TermFence } from '../core/leadership.ts';
import type { QueueSettings, QueueState } from '../core/queue.ts';
import type { NewWorker, WorkerRow } from '../core/worker.ts';
import type { Store } from './store.ts';

export interface ClusterStore {
  /** Every queue that has a setting or an unfinished job, by name. */
  queues(signal: AbortSignal): Promise<QueueState[]>;

  /** Changes a queue's settings, creating them where there were none. */
  setQueue(name: string, settings: Partial<QueueSettings>, signal: AbortSignal): Promise<QueueState>;

  /** Gives the worker its id, new at every call. */
  registerWorker(worker: NewWorker, signal: AbortSignal): Promise<WorkerRow>;

  workers(signal: AbortSignal): Promise<WorkerRow[]>;

  /** Asks a worker to finish what it has and leave. `undefined`: no such worker. */
  drainWorker(id: number, signal: AbortSignal): Promise<WorkerRow | undefined>;

  /** A worker that says good-bye: offline at once. What it still held is left to its lease. */
  leaveWorker(id: number, signal: AbortSignal): Promise<void>;

  /**
   * Keeps or takes duties for an instance, and answers in order with how each stands. A duty whose term is given is kept
   * for another `termMs` if that term is still this instance's and not over. Any other is taken if its term is over, or
   * where the store knows that its leader's session has ended: that raises the term, and this instance leads.
   */
  lead(request: LeadRequest, signal: AbortSignal): Promise<Led[]>;

  /** What this instance leads is free at once. */
  resign(instanceId: string, signal: AbortSignal): Promise<void>;

  /** Every duty that was ever led, by name. */
  duties(signal: AbortSignal): Promise<DutyState[]>;

  /**
   * This store for the writes of a leader: while one is made nobody else can take the duty, and where the term that
   * `fence` answers with is no longer the present one, it changes nothing and throws `leadership_lost`. Reads
   * are free. Dispose of the store that it comes from, not of it.
   */
  fenced(fence: () => TermFence): Store;

  /** This process is there; to be said every `beatMs`. */
  beatInstance(instance: NewInstance, signal: AbortSignal): Promise<void>;

  /** Every process that is there, and those that went silent, the oldest first. */
  instances(signal: AbortSignal): Promise<InstanceRow[]>;

  /** A process that says good-bye is not listed any more. */
  leaveInstance(id: string, signal: AbortSignal): Promise<void>;

  /** Forgets processes that have been silent for so long; answers with how many. */
  forgetInstances(silentMs: number, signal: AbortSignal): Promise<number>;
}

export interface LeadRequest {
  instanceId: string;
  /** With the term in which this instance leads each, `null` where it does not. */
  duties: readonly { duty: Duty; term: number | null }[];
  termMs: number;
}

export interface Led extends DutyState {
  /** Whether the instance that asked leads. */
  leads: boolean;
  /** It tried the session lock, which another session holds. */
  contended: boolean;
}
