/** The calling side of an insert: encodes jobs for the thread and decodes its answer. */

import type { NewJob } from '../../../core/job.ts';
import type { Inserted, InsertOptions } from '../../job-store.ts';
import { decodeJob } from '../reads/job-row.ts';
import { NEW_JOB } from '../sql/insert.ts';
import type { InsertAnswer, InsertedRow, InsertInput } from './insert.ts';
import { encodeDependencies, encodeNewJobs, fairQueuesOf, freshJob, type NewJobRow } from './new-job-row.ts';

export interface InsertCall {
  input: InsertInput;
  decode: (answer: InsertAnswer) => Inserted;
}

export function insertCall(jobs: readonly NewJob[], now: number, options: InsertOptions = {}): InsertCall {
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
      dependencies: jobs.some((job) => job.dependsOn.length > 0) ? jobs.map(encodeDependencies) : null,
      now,
    },
    decode: ({ items, replayed }) => ({
      items: items.map((item, index) => decodeInserted(item, rows[index] as NewJobRow, now)),
      replayed,
    }),
  };
}

function decodeInserted(item: InsertedRow, row: NewJobRow, now: number): Inserted['items'][number] {
  if (typeof item === 'number') return { job: freshJob(row, item, now), deduplicated: false };
  const [job, deduplicated] = item;
  return { job: decodeJob(job), deduplicated };
}
