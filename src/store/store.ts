/**
 * What every store must do. One method is one atomic step: either all of it is visible to all callers, or nothing.
 *
 * On PostgreSQL these are several steps, each of them atomic. A process that ends between two of them leaves:
 * - `settle`: some jobs ended and others running. Reported again, the first are answered as before, the others end.
 * - `claim`: jobs claimed that the worker did not receive. Its next heartbeat returns them, or its lease ends.
 * - `heartbeat`: the lease renewed, and jobs that the worker never received not returned yet. The next one returns them.
 * - `prune`: fewer jobs deleted than the limit, each with all its rows. The next round goes on.
 * `setQueue` and `closeRate` return the state as it is after the change, which may include later changes of others.
 *
 * Instants are epoch milliseconds by the store's own clock. That clock alone decides what is due and which lease is over.
 * Every call takes a signal. A call that is aborted before it is sent rejects with the signal's reason and changes nothing;
 * a call that was already sent happens completely or not at all.
 * A store that cannot be reached rejects with `store_unavailable`, one whose disk is full with `store_full`.
 */

import type { Driver } from '../core/driver.ts';
import type { LeaseKeeperPlan } from '../core/lease-keeper.ts';
import type { AccessStore } from './access-store.ts';
import type { ClusterStore } from './cluster-store.ts';
import type { DefinitionStore } from './definition-store.ts';
import type { DutyStore } from './duty-store.ts';
import type { GangStore } from './gang-store.ts';
import type { Hint, SideEffects } from './hint.ts';
import type { JobStore } from './job-store.ts';
import type { MeterStore } from './meter-store.ts';
import type { NoticeStore } from './notice-store.ts';
import type { OutputStore } from './output-store.ts';
import type { ReadStore } from './read-store.ts';
import type { ScheduleStore } from './schedule-store.ts';
import type { SecretStore } from './secret-store.ts';
import type { StatsStore } from './stats-store.ts';
import type { StepStore } from './step-store.ts';
import type { Transactional } from './transactional.ts';
import type { WorkflowStore } from './workflow-store.ts';

export interface Store
  extends JobStore,
    DutyStore,
    ReadStore,
    WorkflowStore,
    OutputStore,
    ClusterStore,
    AccessStore,
    MeterStore,
    SecretStore,
    StatsStore,
    NoticeStore,
    ScheduleStore,
    DefinitionStore,
    GangStore,
    StepStore,
    AsyncDisposable {
  readonly driver: Driver;
  /** Where the jobs are, for display: a file, or a database's address without the password. */
  readonly location: string;
  /** True if only this process can reach the jobs (memory, SQLite). Jobs that workers of a previous process held are free. */
  readonly exclusive: boolean;
  /** The calls for an application's transactions; `null` if the store has none. */
  readonly transactional: Transactional | null;
  /**
   * How a worker's thread can renew its lease while the process's event loop is blocked; `null` if one process owns the
   * store and reaps on the same loop.
   */
  readonly leaseKeeper: LeaseKeeperPlan | null;

  /** Returns the store's time. Also the cheapest check that the store can be reached. */
  now(signal: AbortSignal): Promise<number>;

  /**
   * Rejects with the reason while the store cannot be reached or cannot take jobs, for example because its disk is full.
   * Writes only if there is doubt: after a write of this process has failed.
   */
  checkWritable(signal: AbortSignal): Promise<void>;

  /** The number of this process's transactions that were repeated because of a deadlock; 0 on stores without locks. */
  deadlocks(): number;

  /** Calls `observer` after each call of this process that ended or inserted jobs beside those it was asked to. */
  observe(observer: (effects: SideEffects) => void): () => void;

  /** Calls `listener` soon after a change in this process or, on PostgreSQL, in others. Hints may be lost or false. */
  subscribe(listener: (hint: Hint) => void): () => void;
}
