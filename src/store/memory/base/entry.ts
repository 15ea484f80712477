/** A job as this store holds it. It never leaves the store: `toJob` and the functions beside it copy. */

import type { EdgeCounters } from '../../../core/dag/edge-counters.ts';
import type {
  Attempt,
  ClaimedJob,
  Counters,
  Job,
  JobSpec,
  Progress,
  Reason,
  RunContext,
  Status,
} from '../../../core/job.ts';
import type { LogPiece } from '../../../core/output.ts';
import type { StoredCheckpoint } from '../../output-store.ts';
import type { Edge } from '../graph/edges.ts';
import type { Group } from '../graph/groups.ts';
import { copyJson, copySpec } from './copy.ts';

/** The workflow, group and earlier run that a job belongs to. */
export type Origin = Pick<Job, 'workflowId' | 'stepKey' | 'groupId' | 'groupIndex' | 'rerunOf'>;

export interface Entry extends Readonly<Origin> {
  readonly id: number;
  readonly createdAt: number;
  spec: JobSpec;
  /** The lane's key. */
  lane: string;
  status: Status;
  dueAt: number;
  /** Its fair turn, given when it became claimable; `turnKey` is `null` if it has none. */
  turn: number;
  turnKey: string | null;
  /** The parking in which it waits for a meter; `null`: it is in its lane. */
  parkedIn: string | null;
  attempt: number;
  counters: Counters;
  workerId: number | null;
  startedAt: number | null;
  /** The number of the claim that took it; `null` if the worker does not count its claims. */
  claimSeq: number | null;
  /** When its lease was renewed; `null` if the worker's heartbeats renew it with all others. */
  renewedAt: number | null;
  cancelRequestedAt: number | null;
  /** It was asked to stop with its gang. */
  gangStop: boolean;
  /** Its children are not cancelled with it. */
  keepChildren: boolean;
  /** Kept while the job runs, so that a claim that is returned before the start changes nothing. */
  expiresAt: number | null;
  doneAt: number | null;
  reason: Reason | null;
  /** How it ended. */
  end: Pick<Attempt, 'exitCode' | 'signal' | 'error' | 'thrown'> | null;
  result: unknown;
  progress: (Progress & { attempt: number }) | null;
  /** The last complete one. */
  checkpoint: StoredCheckpoint | null;
  /** The pieces of checkpoints by upload. */
  uploads: Map<number, Pick<LogPiece, 'offset' | 'data'>[]>;
  /** The key it was submitted with, held or not. */
  uniqueKey: string | null;
  /** The job that held the key before and whose end it waits for. */
  uniqueAfter: number | null;
  /** In-edges by parent with their counters; out-edges by child. */
  readonly parents: Map<number, Edge>;
  edges: EdgeCounters;
  readonly children: Map<number, Edge>;
  /** The items of a group; `null` for other jobs. */
  readonly group: Group | null;
  /** The value of an item; `null` for other jobs. */
  readonly item: unknown;
  attempts: Attempt[];
  /** Output by attempt. */
  logs: Map<number, LogPiece[]>;
}

const NOTHING = { exitCode: null, signal: null, error: null, thrown: null };

/** The exit code, signal and error that are shown with the job: those of its end, or of its last failed attempt. */
export function endOf(entry: Entry): NonNullable<Entry['end']> {
  return entry.end ?? entry.attempts.findLast((attempt) => attempt.error !== null) ?? NOTHING;
}

/** `lastHeartbeatAt` is a parameter, because it may be stored in the worker's row only. */
export function toJob(entry: Entry, lastHeartbeatAt: number | null): Job {
  const { exitCode, signal, error, thrown } = endOf(entry);
  return {
    ...copySpec(entry.spec),
    ...entry.counters,
    id: entry.id,
    status: entry.status,
    attempt: entry.attempt,
    createdAt: entry.createdAt,
    dueAt: entry.dueAt,
    startedAt: entry.startedAt,
    doneAt: entry.doneAt,
    workerId: entry.workerId,
    lastHeartbeatAt,
    cancelRequestedAt: entry.cancelRequestedAt,
    gangStop: entry.gangStop,
    expiresAt: entry.status === 'running' ? null : entry.expiresAt,
    exitCode,
    signal,
    error,
    thrown: copyJson(thrown),
    reason: entry.reason,
    result: copyJson(entry.result),
    progress: progressOf(entry),
    checkpoint: checkpointOf(entry),
    dependsOn: [...entry.parents.values()]
      .map(({ parentId, condition }) => ({ jobId: parentId, condition }))
      .sort((a, b) => a.jobId - b.jobId),
    workflowId: entry.workflowId,
    stepKey: entry.stepKey,
    groupId: entry.groupId,
    groupIndex: entry.groupIndex,
    rerunOf: entry.rerunOf,
    uniqueKey: entry.uniqueKey,
  };
}

function progressOf({ progress, attempt }: Entry): Progress | null {
  return progress?.attempt === attempt ? { fraction: progress.fraction, text: progress.text } : null;
}

function checkpointOf({ checkpoint }: Entry): Job['checkpoint'] {
  if (checkpoint === null) return null;
  const { kind, bytes, attempt, writtenAt } = checkpoint;
  return { kind, bytes, attempt, writtenAt };
}

export function toClaimedJob(
  entry: Entry & { startedAt: number },
  prefetch: boolean,
  runContext: RunContext | null,
): ClaimedJob {
  const { id, attempt, dueAt, startedAt, counters } = entry;
  const job = { ...copySpec(entry.spec), id, attempt, failures: counters.failures, dueAt, startedAt, runContext };
  return prefetch ? { ...job, prefetched: true } : job;
}

/** True if it was ever claimed; for a group, if it was ever free. */
export function hasStarted(entry: Entry): boolean {
  return entry.attempt > 0 || entry.startedAt !== null;
}
