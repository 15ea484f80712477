/** A job as it crosses from thread to thread, and back into a job. The order is that of the columns in sql.ts. */

import type { ClaimedJob, Job, JobSpec, Reason, Status } from '../../core/job.ts';
import { decodeSpec, type StoredSpec } from '../spec.ts';

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
  expiresAt: number | null,
  exitCode: number | null,
  signal: string | null,
  error: string | null,
  reason: Reason | null,
  result: string | null,
];

export function decodeJob(row: JobRow): Job {
  const [id, queue, kind, name, priority, tags, spec, createdAt, status, attempt, ...rest] = row;
  const [failures, interruptions, snoozes, losses, dueAt, startedAt, doneAt, workerId, heardAt, ...end] = rest;
  const [cancelRequestedAt, expiresAt, exitCode, signal, error, reason, result] = end;
  return {
    ...decodeSpecRow([queue, kind, name, priority, tags, spec]),
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
    expiresAt,
    exitCode,
    signal,
    error,
    reason,
    result: result === null ? null : JSON.parse(result),
  };
}

export type ClaimedRow = readonly [
  id: number,
  attempt: number,
  failures: number,
  dueAt: number,
  ...spec: SpecRow,
  flags: number,
];

export function decodeClaimedJob(row: ClaimedRow, startedAt: number): ClaimedJob {
  const [id, attempt, failures, dueAt, ...spec] = row;
  const [queue, kind, name, priority, tags, stored] = spec;
  return { ...decodeSpecRow([queue, kind, name, priority, tags, stored]), id, attempt, failures, dueAt, startedAt };
}

export function decodeSpecRow([queue, kind, name, priority, tags, spec]: SpecRow): JobSpec {
  return decodeSpec({
    queue,
    kind,
    name,
    priority,
    tags: JSON.parse(tags) as string[],
    spec: JSON.parse(spec) as StoredSpec,
  });
}
