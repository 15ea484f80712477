/** Rows of jobs as the threads send them, in the order of the columns in sql/read.ts, and their decoding. */

import type { CheckpointKind } from '../../../core/checkpoint.ts';
import type { Condition } from '../../../core/dag/conditions.ts';
import type { ClaimedJob, Dependency, Job, JobSpec, Reason, RunContext, Status } from '../../../core/job.ts';
import type { Thrown } from '../../../core/outcome.ts';
import { FLAG } from '../../flags.ts';
import { claimedJob, decodeSpec, type SpecColumns, type StoredSpec, uniqueKeyOf } from '../../spec.ts';

export type SpecRow = readonly [
  queue: string,
  kind: string,
  name: string | null,
  priority: number,
  tags: string,
  spec: string,
];

export type JobRow = readonly [
  id: number,
  ...spec: SpecRow,
  createdAt: number,
  status: Status,
  attempt: number,
  failures: number,
  interruptions: number,
  snoozes: number,
  losses: number,
  dueAt: number,
  startedAt: number | null,
  doneAt: number | null,
  workerId: number | null,
  heardAt: number | null,
  cancelRequestedAt: number | null,
  gangStop: number,
  expiresAt: number | null,
  exitCode: number | null,
  signal: string | null,
  error: string | null,
  thrown: string | null,
  reason: Reason | null,
  result: string | null,
  progress: string | null,
  dependsOn: string,
  workflowId: number | null,
  stepKey: string | null,
  groupId: number | null,
  groupIndex: number | null,
  rerunOf: number | null,
  /** What a list has cut, with commas; `null` for a job that was read whole. */
  cut: string | null,
];

/** The id of any row that begins with one. */
export function idOf([id]: readonly [id: number, ...unknown[]]): number {
  return id;
}

export function decodeJob(row: JobRow): Job {
  const [id, queue, kind, name, priority, tags, spec, createdAt, status, attempt, ...rest] = row;
  const [failures, interruptions, snoozes, losses, dueAt, startedAt, doneAt, workerId, heardAt, ...end] = rest;
  const [cancelRequestedAt, gangStop, expiresAt, exitCode, signal, error, thrown, reason, result, progress, ...around] =
    end;
  const [dependsOn, workflowId, stepKey, groupId, groupIndex, rerunOf] = around;
  const columns = specColumns([queue, kind, name, priority, tags, spec]);
  return {
    ...decodeSpec(columns),
    id,
    status,
    attempt,
    failures,
    interruptions,
    snoozes,
    losses,
    createdAt,
    dueAt,
    startedAt,
    doneAt,
    workerId,
    lastHeartbeatAt: status === 'running' ? heardAt : null,
    cancelRequestedAt,
    gangStop: gangStop !== 0,
    expiresAt,
    exitCode,
    signal,
    error,
    thrown: decodeThrown(thrown),
    reason,
    result: result === null ? null : JSON.parse(result),
    ...decodeProgress(progress, attempt),
    dependsOn: decodeDependencies(dependsOn),
    workflowId,
    stepKey,
    groupId,
    groupIndex,
    rerunOf,
    uniqueKey: uniqueKeyOf(columns.spec),
  };
}

function decodeThrown(text: string | null): Thrown | null {
  return text === null ? null : (JSON.parse(text) as Thrown);
}

const NO_PROGRESS = { progress: null, checkpoint: null };

type ProgressRow = [attempt: number, fraction: number | null, note: string | null, ...checkpoint: CheckpointRow];
type CheckpointRow = [kind: CheckpointKind, bytes: number, attempt: number, at: number] | [null, null, null, null];

function decodeProgress(text: string | null, currentAttempt: number): Pick<Job, 'progress' | 'checkpoint'> {
  if (text === null) return NO_PROGRESS;
  const [attempt, fraction, note, ...[kind, bytes, writer, at]] = JSON.parse(text) as ProgressRow;
  return {
    progress: attempt !== currentAttempt || fraction === null ? null : { fraction, text: note },
    checkpoint: kind === null ? null : { kind, bytes, attempt: writer, writtenAt: at },
  };
}

function decodeDependencies(text: string): Dependency[] {
  if (text === '[]') return [];
  return (JSON.parse(text) as [number, Condition][]).map(([jobId, condition]) => ({ jobId, condition }));
}

/** Positions in a `ClaimedRow`. */
export const CLAIMED = { id: 0, queue: 4, spec: 9, flags: 10 } as const;

export type ClaimedRow = readonly [
  id: number,
  attempt: number,
  failures: number,
  dueAt: number,
  ...spec: SpecRow,
  flags: number,
];

export function decodeClaimedJob(
  row: ClaimedRow,
  { startedAt, prefetch }: { startedAt: number; prefetch: boolean },
  runContext: RunContext | null = null,
): ClaimedJob {
  const [id, attempt, failures, dueAt, ...rest] = row;
  const [queue, kind, name, priority, tags, stored] = rest;
  const job = claimedJob(specColumns([queue, kind, name, priority, tags, stored]), {
    id,
    attempt,
    failures,
    dueAt,
    startedAt,
  });
  job.runContext = runContext;
  if (prefetch) job.prefetched = true;
  if (row[CLAIMED.flags] & FLAG.suspect) job.suspect = true;
  return job;
}

export function decodeSpecRow(row: SpecRow): JobSpec {
  return decodeSpec(specColumns(row));
}

export function specColumns([queue, kind, name, priority, tags, spec]: SpecRow): SpecColumns {
  return {
    queue,
    kind,
    name,
    priority,
    tags: JSON.parse(tags) as string[],
    spec: JSON.parse(spec) as StoredSpec,
  };
}
