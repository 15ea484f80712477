/**
 * The calling side of an insert: encodes submitted jobs for the writer's thread, each as one row of JSON that the insert
 * reads column by column, and decodes its answer.
 */

import type { Job, NewJob } from '../../../core/job.ts';
import { laneKey, laneOf } from '../../../core/lane.ts';
import { specFlags } from '../../flags.ts';
import type { Inserted, JobInsertOptions } from '../../job-store.ts';
import { decodeSpec, encodeSpec, type StoredSpec, uniqueKeyOf } from '../../spec.ts';
import { specColumns } from '../reads/job-row.ts';
import { NEW_JOB } from '../sql/insert.ts';
import type { InsertAnswer, InsertedRow, InsertInput } from './insert.ts';

/** The columns of a new job, in the order of `NEW_JOB`. */
export type NewJobRow = readonly [
  queue: string,
  kind: string,
  name: string | null,
  priority: number,
  tags: string,
  spec: string,
  /** Index into `NewJobRows.lanes`. */
  lane: number,
  status: 'scheduled' | 'pending',
  dueAt: number,
  expiresAt: number | null,
  flags: number,
];

export interface NewJobRows {
  rows: NewJobRow[];
  /** Keys of the lanes that the rows point at. */
  lanes: string[];
}

export function encodeNewJobs(jobs: readonly NewJob[], now: number): NewJobRows {
  const lanes = new LanePlaces();
  const rows = jobs.map((job) => newJobRow(job, { now, lanes, flags: 0 }));
  return { rows, lanes: lanes.keys };
}

/** The lanes that rows point at. */
export class LanePlaces {
  readonly #places = new Map<string, number>();

  get keys(): string[] {
    return [...this.#places.keys()];
  }

  placeOf(key: string): number {
    let place = this.#places.get(key);
    if (place === undefined) {
      place = this.#places.size;
      this.#places.set(key, place);
    }
    return place;
  }
}

/** `flags`: bits that do not follow from the job alone. */
export function newJobRow(
  job: NewJob,
  { now, lanes, flags }: { now: number; lanes: LanePlaces; flags: number },
): NewJobRow {
  const { queue, kind, name, priority, tags, spec } = encodeSpec(job);
  if (job.unique !== null) spec['unique_key'] = job.unique.key;
  const { status, dueAt, expiresAt } = placeOf(job, now);
  return [
    queue,
    kind,
    name,
    priority,
    JSON.stringify(tags),
    JSON.stringify(spec),
    lanes.placeOf(laneKey(laneOf(job))),
    status,
    dueAt,
    expiresAt,
    specFlags(job) | flags,
  ];
}

/** The queues of jobs with a fair key. */
export function fairQueuesOf(rows: readonly NewJobRow[]): string[] {
  const fair = rows.filter((row) => hasFairKey(row[NEW_JOB.spec]));
  return [...new Set(fair.map(([queue]) => queue))];
}

/** Searching the text first avoids parsing most specs. */
function hasFairKey(spec: string): boolean {
  return spec.includes('"fair_key"') && 'fair_key' in (JSON.parse(spec) as StoredSpec);
}

/** The job that a new row becomes, without reading it from the database. */
function freshJob(row: NewJobRow, id: number, { now, rerunOf }: { now: number; rerunOf?: number }): Job {
  const [queue, kind, name, priority, tags, spec, , status, dueAt, expiresAt] = row;
  const columns = specColumns([queue, kind, name, priority, tags, spec]);
  return {
    ...decodeSpec(columns),
    id,
    status,
    attempt: 0,
    failures: 0,
    interruptions: 0,
    snoozes: 0,
    losses: 0,
    createdAt: now,
    dueAt,
    startedAt: null,
    doneAt: null,
    workerId: null,
    lastHeartbeatAt: null,
    cancelRequestedAt: null,
    gangStop: false,
    expiresAt,
    exitCode: null,
    signal: null,
    error: null,
    thrown: null,
    reason: null,
    result: null,
    progress: null,
    checkpoint: null,
    dependsOn: [],
    workflowId: null,
    stepKey: null,
    groupId: null,
    groupIndex: null,
    rerunOf: rerunOf ?? null,
    uniqueKey: uniqueKeyOf(columns.spec),
  };
}

function placeOf(
  job: NewJob,
  now: number,
): { status: 'scheduled' | 'pending'; dueAt: number; expiresAt: number | null } {
  const dueAt = Math.max(now, Math.round(job.runAt ?? now + (job.delayMs ?? 0)));
  return {
    status: dueAt > now ? 'scheduled' : 'pending',
    dueAt,
    expiresAt: job.startTimeoutMs === null ? null : dueAt + Math.round(job.startTimeoutMs),
  };
}

interface InsertCall {
  input: InsertInput;
  decode: (answer: InsertAnswer) => Inserted;
}

export function insertCall(jobs: readonly NewJob[], now: number, options: JobInsertOptions = {}): InsertCall {
  const { rows, lanes } = encodeNewJobs(jobs, now);
  const later = rows.filter((row) => row[NEW_JOB.status] === 'scheduled').map((row) => row[NEW_JOB.dueAt]);
  return {
    input: {
      ...options,
      rows: JSON.stringify(rows),
      count: rows.length,
      lanes,
      fairQueues: fairQueuesOf(rows),
      work: later.length < rows.length,
      dueAt: later.length === 0 ? null : later.reduce((a, b) => Math.min(a, b)),
      uniques: jobs.some((job) => job.unique !== null) ? jobs.map((job) => job.unique) : null,
      dependencies: jobs.some((job) => job.dependsOn.length > 0) ? jobs.map(({ dependsOn }) => dependsOn) : null,
      now,
    },
    decode: ({ items, replayed }) => ({
      items: items.map((item, index) => decodeInserted(item, rows[index] as NewJobRow, { ...options, now })),
      replayed,
    }),
  };
}

function decodeInserted(
  item: InsertedRow,
  row: NewJobRow,
  fresh: { now: number; rerunOf?: number },
): Inserted['items'][number] {
  if (typeof item === 'number') return { job: freshJob(row, item, fresh), deduplicated: false };
  const [job, deduplicated] = item;
  return { job, deduplicated };
}
