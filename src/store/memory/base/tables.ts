/** The state of this store. Each method is a synchronous function of it, so no call sees another half done. */

import type { AuditEntry } from '../../../core/audit.ts';
import type { StoredReservation } from '../../../core/capacity.ts';
import type { Clock } from '../../../core/clock.ts';
import type { Definition } from '../../../core/dag/definition.ts';
import type { Duty } from '../../../core/duty.ts';
import type { GangRow, Place } from '../../../core/gang.ts';
import type { InstanceRow } from '../../../core/instance.ts';
import { isTerminal, type Job } from '../../../core/job.ts';
import { isLeaseOver } from '../../../core/lease.ts';
import type { Notification } from '../../../core/notice.ts';
import type { Operation } from '../../../core/operation.ts';
import type { QueueSettings } from '../../../core/queue.ts';
import type { StoredSecret } from '../../../core/secret.ts';
import type { Session } from '../../../core/session.ts';
import type { StatRow } from '../../../core/stats.ts';
import type { ValidToken } from '../../../core/token.ts';
import type { NewWorker } from '../../../core/worker.ts';
import { Heap } from '../../heap.ts';
import { Changes } from '../../hint.ts';
import type { LeaderRow } from '../cluster/leadership.ts';
import type { NoticeRow } from '../cluster/notices.ts';
import type { WorkflowRow } from '../graph/workflow-row.ts';
import type { MeterRow } from '../jobs/meters.ts';
import { TurnGroups } from '../jobs/turn-groups.ts';
import { isDueEarlier, type LineRow, type ScheduleRow, type TickRow } from '../schedules/rows.ts';
import { type Entry, toJob } from './entry.ts';
import { isHeld, isLive, Live } from './live.ts';

export interface Tables {
  readonly clock: Clock;
  /** Changes of the current call, announced after it. */
  readonly changes: Changes;
  readonly jobs: Map<number, Entry>;
  readonly live: Live;
  readonly turns: TurnGroups;
  /** Jobs that the current call has made claimable. */
  readonly newcomers: Set<Entry>;
  /** Ended jobs outside of workflows, the longest ended first: those done, and all others. */
  readonly done: Heap<Entry>;
  readonly undone: Heap<Entry>;
  /** Ended or reopened jobs whose out-edges are still to be judged. */
  readonly cascade: Set<Entry>;
  /** Groups that need items, or can end. */
  readonly needItems: Set<Entry>;
  readonly workflows: Map<number, WorkflowRow>;
  readonly workers: Map<number, Worker>;
  readonly audit: Map<number, AuditEntry>;
  readonly sessions: Map<string, Session>;
  readonly tokens: Map<number, ValidToken>;
  /** By worker. */
  readonly reservations: Map<number, StoredReservation>;
  /** Versions by name, oldest first. */
  readonly definitions: Map<string, readonly Definition[]>;
  readonly secrets: Map<string, StoredSecret>;
  /** By job. */
  readonly places: Map<number, Place>;
  readonly gangs: Map<string, GangRow>;
  readonly queues: Map<string, QueueRow>;
  /** Limits and rates by name. */
  readonly meters: Map<string, MeterRow>;
  readonly uniqueKeys: Map<string, UniqueKey>;
  readonly idempotency: Map<string, IdempotentAnswer>;
  readonly stats: Map<string, StatRow>;
  readonly operations: Map<number, Operation>;
  readonly leaders: Map<Duty, LeaderRow>;
  readonly instances: Map<string, Omit<InstanceRow, 'state'>>;
  readonly notices: Map<number, NoticeRow>;
  /** Notifications by the job that delivers them. */
  readonly notifications: Map<number, Notification>;
  /** Subjects whose latest run failed, and since when. */
  readonly alarms: Map<string, number>;
  readonly schedules: Map<string, ScheduleRow>;
  /** Lines that will be due, the first one first. */
  readonly dueLines: Heap<LineRow>;
  readonly ticks: Map<number, TickRow>;
  /** Ticks whose replaced runs have not been asked to stop. */
  readonly stopping: Set<TickRow>;
  readonly lastId: Record<
    'job' | 'workflow' | 'worker' | 'operation' | 'schedule' | 'line' | 'tick' | 'notice' | 'token' | 'audit',
    number
  >;
}

export interface Worker {
  readonly id: number;
  readonly profile: NewWorker;
  readonly registeredAt: number;
  seenAt: number;
  offline: boolean;
  draining: boolean;
}

interface QueueRow {
  pausedAt: number | null;
  maxRunning: number | null;
  rate: QueueSettings['rate'];
}

export interface UniqueKey {
  jobId: number;
  hold: 'pending' | 'active' | 'time';
  /** `null` unless it is held for a time. */
  expiresAt: number | null;
}

export interface IdempotentAnswer {
  fingerprint: string;
  items: { jobId: number; deduplicated: boolean }[];
  /** For a call that created a workflow. */
  workflowId: number | null;
  /** For a call that ran a schedule. */
  tickIds?: readonly number[];
  createdAt: number;
}

export function createTables(clock: Clock): Tables {
  const turns = new TurnGroups();
  return {
    clock,
    changes: new Changes(),
    jobs: new Map(),
    live: new Live(turns),
    turns,
    newcomers: new Set(),
    done: new Heap(endedEarlier),
    undone: new Heap(endedEarlier),
    cascade: new Set(),
    needItems: new Set(),
    workflows: new Map(),
    workers: new Map(),
    audit: new Map(),
    sessions: new Map(),
    tokens: new Map(),
    reservations: new Map(),
    definitions: new Map(),
    secrets: new Map(),
    places: new Map(),
    gangs: new Map(),
    queues: new Map(),
    meters: new Map(),
    uniqueKeys: new Map(),
    idempotency: new Map(),
    stats: new Map(),
    operations: new Map(),
    leaders: new Map(),
    instances: new Map(),
    notices: new Map(),
    notifications: new Map(),
    alarms: new Map(),
    schedules: new Map(),
    dueLines: new Heap(isDueEarlier),
    ticks: new Map(),
    stopping: new Set(),
    lastId: {
      job: 0,
      workflow: 0,
      worker: 0,
      operation: 0,
      schedule: 0,
      line: 0,
      tick: 0,
      notice: 0,
      token: 0,
      audit: 0,
    },
  };
}

function endedEarlier(a: Entry, b: Entry): boolean {
  const [aAt, bAt] = [a.doneAt ?? 0, b.doneAt ?? 0];
  return aAt === bAt ? a.id < b.id : aAt < bAt;
}

/** Changes a job, which may move it to another place in the order. */
export function change(tables: Tables, entry: Entry, fields: Partial<Entry>): void {
  takeOff(tables, entry);
  Object.assign(entry, fields);
  putBack(tables, entry);
}

export function putBack(tables: Tables, entry: Entry): void {
  if (isLive(entry.status)) tables.live.add(entry);
  else if (entry.workflowId === null) endedLike(tables, entry).add(entry);
}

export function takeOff(tables: Tables, entry: Entry): void {
  if (isTerminal(entry.status)) endedLike(tables, entry).delete(entry);
  else tables.live.delete(entry);
}

function endedLike(tables: Tables, entry: Entry): Heap<Entry> {
  return entry.status === 'done' ? tables.done : tables.undone;
}

export function jobOf(tables: Tables, entry: Entry): Job {
  return toJob(entry, isHeld(entry) ? heardAt(tables, entry) : null);
}

/** When the lease of a running job was last renewed. */
export function heardAt(tables: Tables, entry: Entry): number {
  return entry.renewedAt ?? workerOf(tables, entry).seenAt;
}

/** True if the worker's lease is over by the clock as it is: it may claim nothing until it is heard again. */
export function isSilent({ clock }: Tables, { seenAt, profile: { leaseMs } }: Worker): boolean {
  return isLeaseOver({ heardAt: seenAt, leaseMs }, clock.now());
}

/** True if the worker's next claim would be given jobs. */
export function mayClaim(tables: Tables, worker: Worker | undefined): boolean {
  return worker !== undefined && !worker.offline && !worker.draining && !isSilent(tables, worker);
}

/** The worker of a running job. Workers that hold a job are never deleted. */
export function workerOf(tables: Tables, entry: Entry): Worker {
  const worker = tables.workers.get(entry.workerId ?? 0);
  if (worker === undefined) throw new Error(`job ${entry.id} is held by worker ${entry.workerId}, who is not there`);
  return worker;
}
