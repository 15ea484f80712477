/** Queues, workers, instances and leadership of duties. */

import type { Duty } from '../core/duty.ts';
import type { InstanceRow, NewInstance } from '../core/instance.ts';
import type { DutyState, TermFence } from '../core/leadership.ts';
import type { QueueSettings, QueueState } from '../core/queue.ts';
import type { NewWorker, WorkerRow } from '../core/worker.ts';
import type { Store } from './store.ts';

export interface ClusterStore {
  /** Returns every queue that has a setting or an unfinished job, by name. */
  queues(signal: AbortSignal): Promise<QueueState[]>;

  /** Changes a queue's settings and returns its state. */
  setQueue(name: string, settings: Partial<QueueSettings>, signal: AbortSignal): Promise<QueueState>;
  /** Deletes the settings of a queue without unfinished jobs. Returns false if it has such jobs, or no settings. */
  deleteQueue(name: string, signal: AbortSignal): Promise<boolean>;

  /** Registers a worker. Each call gives a new id. */
  registerWorker(worker: NewWorker, signal: AbortSignal): Promise<WorkerRow>;

  /**
   * Deletes workers that are offline and hold nothing, those that were silent for the longest time first, until at most `max` are
   * known. Returns the number of those that are left, which may be more.
   */
  limitWorkers(max: number, signal: AbortSignal): Promise<number>;

  /** Returns the number of workers that a caller of the API has registered and that are not offline. */
  countWorkersOf(registeredBy: string, signal: AbortSignal): Promise<number>;

  workers(signal: AbortSignal): Promise<WorkerRow[]>;

  worker(id: number, signal: AbortSignal): Promise<WorkerRow | undefined>;

  /** Asks a worker to finish its jobs and leave. Returns `undefined` if there is no such worker. */
  drainWorker(id: number, signal: AbortSignal): Promise<WorkerRow | undefined>;

  /** Takes a drain back: the worker is given jobs again. Returns `undefined` if there is no such worker. */
  undrainWorker(id: number, signal: AbortSignal): Promise<WorkerRow | undefined>;

  /** Marks a worker that leaves as offline at once. Jobs that it still holds are left to its lease. */
  leaveWorker(id: number, signal: AbortSignal): Promise<void>;

  /**
   * Keeps or takes duties for an instance and returns the state of each, in order. A duty whose term is given is kept for
   * another `termMs` if that term is still this instance's and not over. Any other duty is taken if its term is over, or if
   * the store knows that its leader's session has ended. Taking a duty raises its term.
   */
  lead(request: LeadRequest, signal: AbortSignal): Promise<Led[]>;

  /** Frees all duties that this instance leads. */
  resign(instanceId: string, signal: AbortSignal): Promise<void>;

  /** Returns every duty that was ever led, by name. */
  duties(signal: AbortSignal): Promise<DutyState[]>;

  /**
   * Returns this store for the writes of a leader. During a write no other instance can take the duty. If the term that
   * `fence` returns is no longer the current one, the write changes nothing and throws `leadership_lost`. Reads are not
   * fenced. Dispose of the original store, not of this one.
   */
  fenced(fence: () => TermFence): Store;

  /** Reports that this process is alive; to be called every `beatMs`. */
  beatInstance(instance: NewInstance, signal: AbortSignal): Promise<void>;

  /** Returns all processes, also those that went silent, the oldest first. */
  instances(signal: AbortSignal): Promise<InstanceRow[]>;

  /** Removes a process that leaves. */
  leaveInstance(id: string, signal: AbortSignal): Promise<void>;

  /** Removes processes that have been silent for `silentMs`. Returns their number. */
  forgetInstances(silentMs: number, signal: AbortSignal): Promise<number>;
}

export interface LeadRequest {
  instanceId: string;
  /** Duties, each with the term in which this instance leads it, `null` if it does not. */
  duties: readonly { duty: Duty; term: number | null }[];
  termMs: number;
}

export interface Led extends DutyState {
  /** True if the calling instance leads. */
  leads: boolean;
  /** True if another session holds the duty's session lock. */
  contended: boolean;
}
