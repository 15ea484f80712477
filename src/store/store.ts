/**
 * What any backend must do. One method is one atomic step: it happened for everybody or for nobody.
 *
 * Instants are epoch milliseconds by the store's own clock, which alone decides what is due and whose lease is over.
 * Every call takes its caller's signal: a call that was aborted before it was sent rejects with the signal's reason
 * and has changed nothing; one that was already sent has happened or not, never half.
 * A backend that is away for now rejects with `store_unavailable`, one whose disk is full with `store_full`.
 */

import type { LeaseKeeperPlan } from '../core/lease-keeper.ts';
import type { ClusterStore } from './cluster-store.ts';
import type { DutyStore } from './duty-store.ts';
import type { Hint } from './hint.ts';
import type { JobStore } from './job-store.ts';
import type { NoticeStore } from './notice-store.ts';
import type { OutputStore } from './output-store.ts';
import type { ReadStore } from './read-store.ts';
import type { ScheduleStore } from './schedule-store.ts';
import type { StatsStore } from './stats-store.ts';
import type { Transactional } from './transactional.ts';
import type { WorkflowStore } from './workflow-store.ts';

export const DRIVERS = ['memory', 'sqlite', 'postgres'] as const;
export type Driver = (typeof DRIVERS)[number];

export interface Store
  extends JobStore,
    DutyStore,
    ReadStore,
    WorkflowStore,
    OutputStore,
    ClusterStore,
    StatsStore,
    NoticeStore,
    ScheduleStore,
    AsyncDisposable {
  readonly driver: Driver;
  /** Where the jobs are, for people: a file, or a database without its password. */
  readonly location: string;
  /** Only this process can reach the jobs (memory, SQLite), so what an earlier owner's own workers held is free. */
  readonly exclusive: boolean;
  /** What can be done in transactions of the application's own; `null`: nothing. */
  readonly transactional: Transactional | null;
  /** How a worker's thread can renew its lease while the process's loop is blocked; `null`: one process owns the store, and reaps on the same loop. */
  readonly leaseKeeper: LeaseKeeperPlan | null;

  /** The store's clock. Also the cheapest proof that the store is there. */
  now(signal: AbortSignal): Promise<number>;

  /** Transactions of this process that were done again because two waited for each other; 0 where none ever waits. */
  deadlocks(): number;

  /** Calls `listener` soon after something changed here, or, where the backend can tell, elsewhere. Hints may be lost or false. */
  subscribe(listener: (hint: Hint) => void): () => void;
}
