/** The interface of a scheduler for its callers: the HTTP API, in-process workers and the library. */

import type { Hint } from '../store/hint.ts';
import type { Cluster } from './cluster.ts';
import type { Jobs } from './jobs/jobs.ts';
import type { WorkerCalls } from './leases/worker-calls.ts';
import type { Schedules } from './schedules/schedules.ts';
import type { Workflows } from './workflows/workflows.ts';

export interface Health {
  instanceId: string;
  uptimeMs: number;
  /** Background loops that should have begun a round long ago; empty if healthy. */
  stuck: string[];
}

export interface Readiness {
  ready: boolean;
  /** Why it is not ready, one phrase each. */
  problems: string[];
}

export interface Scheduler extends Jobs, Workflows, Schedules, Cluster, WorkerCalls, AsyncDisposable {
  readonly instanceId: string;
  readonly leaseMs: number;
  readonly heartbeatMs: number;
  /** The store's address, without secrets. */
  readonly location: string;
  readonly driver: string;

  subscribe(listener: (hint: Hint) => void): () => void;
  health(): Health;
  ready(signal: AbortSignal): Promise<Readiness>;
  /** Prometheus text. */
  metrics(signal: AbortSignal): Promise<{ contentType: string; body: string }>;
  /** From now on the scheduler is not ready, claims answer with an empty list, and waits end. Other requests go on. */
  drain(): void;
}

export type { NewStep, NewSteps, NewWorkflow } from '../core/dag/new-workflow.ts';
export type { Workflow, WorkflowStep } from '../core/dag/workflow.ts';
export type { InstanceRow } from '../core/instance.ts';
export type { JobFilter } from '../core/job-filter.ts';
export type { DutyState } from '../core/leadership.ts';
export type { Operation } from '../core/operation.ts';
export type { QueueState } from '../core/queue.ts';
export type { Schedule } from '../core/schedule/schedule.ts';
export type { Tick } from '../core/schedule/tick.ts';
export { STAT_BUCKETS_MS, type StatRow } from '../core/stats.ts';
export type { NewWorker, WorkerRow } from '../core/worker.ts';
export type { Hint } from '../store/hint.ts';
export type { ClusterView } from './cluster.ts';
export type { JobPage, JobView, LogSlice } from './jobs/jobs.ts';
export type { Backfilled, BackfillRequest } from './schedules/backfill.ts';
export type { SchedulePage, Schedules, TickPage } from './schedules/schedules.ts';
export type { RerunRequest } from './workflows/rerun.ts';
export type { WorkflowView } from './workflows/view-workflow.ts';
export type { WorkflowPage } from './workflows/workflows.ts';
