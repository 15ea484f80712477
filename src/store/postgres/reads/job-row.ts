/** Reads jobs and decodes their rows. */

import type { CheckpointKind } from '../../../core/checkpoint.ts';
import type { Condition } from '../../../core/dag/conditions.ts';
import type { Job, JobSpec, Reason, Status } from '../../../core/job.ts';
import type { Thrown } from '../../../core/outcome.ts';
import { decodeSpec, type StoredSpec, uniqueKeyOf } from '../../spec.ts';
import type { Context } from '../base/context.ts';
import { numbers } from '../base/values.ts';

export interface SpecRow {
  queue: string;
  kind: string;
  name: string | null;
  priority: number;
  tags: string[];
  spec: StoredSpec;
}

export interface JobRow extends SpecRow {
  id: number;
  created_at: number;
  status: Status;
  attempt: number;
  failures: number;
  interruptions: number;
  snoozes: number;
  losses: number;
  due: number;
  started_at: number | null;
  done_at: number | null;
  worker_id: number | null;
  heard_at: number | null;
  cancel_requested_at: number | null;
  gang_stop: boolean;
  expires_at: number | null;
  exit_code: number | null;
  signal: string | null;
  error: string | null;
  thrown: Thrown | null;
  reason: Reason | null;
  result: unknown;
  /** The attempt that reported it. */
  progress_attempt: number | null;
  fraction: number | null;
  note: string | null;
  checkpoint_kind: CheckpointKind | null;
  checkpoint_bytes: number | null;
  checkpoint_attempt: number | null;
  checkpoint_at: number | null;
  workflow_id: number | null;
  step_key: string | null;
  group_id: number | null;
  group_index: number | null;
  rerun_of: number | null;
  /** Parents with their conditions, by id; `null` for none. */
  depends_on: [number, Condition][] | null;
}

export function decodeJob(row: JobRow): Job {
  return {
    ...specOf(row),
    id: row.id,
    status: row.status,
    attempt: row.attempt,
    failures: row.failures,
    interruptions: row.interruptions,
    snoozes: row.snoozes,
    losses: row.losses,
    createdAt: row.created_at,
    dueAt: row.due,
    startedAt: row.started_at,
    doneAt: row.done_at,
    workerId: row.worker_id,
    lastHeartbeatAt: row.heard_at,
    cancelRequestedAt: row.cancel_requested_at,
    gangStop: row.gang_stop,
    expiresAt: row.expires_at,
    exitCode: row.exit_code,
    signal: row.signal,
    error: row.error,
    thrown: row.thrown,
    reason: row.reason,
    result: row.result,
    progress: progressOf(row),
    checkpoint: checkpointOf(row),
    dependsOn: (row.depends_on ?? []).map(([jobId, condition]) => ({ jobId, condition })),
    workflowId: row.workflow_id,
    stepKey: row.step_key,
    groupId: row.group_id,
    groupIndex: row.group_index,
    rerunOf: row.rerun_of,
    uniqueKey: uniqueKeyOf(row.spec),
  };
}

function progressOf({ progress_attempt: attempt, attempt: now, fraction, note }: JobRow): Job['progress'] {
  return attempt !== now || fraction === null ? null : { fraction, text: note };
}

function checkpointOf(row: JobRow): Job['checkpoint'] {
  const { checkpoint_kind: kind, checkpoint_bytes: bytes, checkpoint_attempt: attempt, checkpoint_at: at } = row;
  return kind === null || bytes === null || attempt === null || at === null
    ? null
    : { kind, bytes, attempt, writtenAt: at };
}

export function specOf({ queue, kind, name, priority, tags, spec }: SpecRow): JobSpec {
  return decodeSpec({ queue, kind, name, priority, tags, spec });
}

export async function read(context: Context, ids: readonly number[], signal: AbortSignal): Promise<Job[]> {
  const rows = await context.database.query<JobRow>(context.sql.jobs, [numbers(ids)], signal);
  const found = new Map(rows.map((row) => [row.id, row]));
  return ids.flatMap((id) => {
    const row = found.get(id);
    return row === undefined ? [] : [decodeJob(row)];
  });
}
