/** Rows of jobs that the threads send as tuples, and their decoding. */

import { UNREAD_STEPS } from '../../../core/durable.ts';
import type { ClaimedJob, JobSpec, RunContext } from '../../../core/job.ts';
import { FLAG } from '../../flags.ts';
import { claimedJob, decodeSpec, type SpecColumns, type StoredSpec } from '../../spec.ts';

export type SpecRow = readonly [
  queue: string,
  kind: string,
  name: string | null,
  priority: number,
  tags: string,
  spec: string,
];

/** The id of any row that begins with one. */
export function idOf([id]: readonly [id: number, ...unknown[]]): number {
  return id;
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
  if (row[CLAIMED.flags] & FLAG.hasSteps) job.steps = UNREAD_STEPS;
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
