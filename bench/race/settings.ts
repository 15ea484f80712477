/**
 * How each contender is set, beside 24 jobs at once per process and a silent logger. Nobody claims more than 1,000 jobs per
 * process that have not started. `sweep.ts` tries others.
 */

import type { ContenderName } from './contender.ts';

/** Numbers by name; what they mean is up to the contender. */
export type Settings = Readonly<Record<string, number>>;

export const SETTINGS: Partial<Record<ContenderName, Settings>> = {
  // Those of its own benchmark: https://worker.graphile.org/docs/performance
  'graphile-batch': { localQueueSize: 500, completeJobBatchDelay: 0, failJobBatchDelay: 0 },
  // Of batchSize 100, 250, 500, 1,000 and localConcurrency 1, 2: small batches lost clearly. 1,000 × 1 had the lowest median of
  // processor time, 500 × 2 the higher rates, but their rounds overlapped on a busy machine. Sweep again on a quiet one.
  'pg-boss': { batchSize: 1_000, localConcurrency: 1 },
  // Of workerConcurrency 24, 200, 1,000 and minPollingIntervalMs 10, 100: not told apart on a busy machine, beyond noise. Sweep again.
  dbos: { workerConcurrency: 200, minPollingIntervalMs: 10, systemDatabasePoolSize: 20 },
};

/** In words, for the report: what bounds claimed jobs that have not started, and how durable a submit is. */
export const STATEMENTS: Partial<Record<ContenderName, string>> = {
  workron: 'defaults; a worker prefetches at most 1,000 jobs, by what its handlers consume in 250 ms',
  'workron-sqlite': 'defaults; the same prefetch; synchronous=FULL',
  'workron-http': 'defaults; the same prefetch; the server is a process of its own, and its processor time counts',
  'graphile-batch': 'local queue (the bound on claimed jobs), completions and failures batched; deletes what has ended',
  graphile: 'defaults; claims only what starts; deletes what has ended',
  'pg-boss':
    'batches (the bound: batchSize × localConcurrency), burstWhenBatchFull, useListenNotify, polls every 0.5 s',
  dbos: 'one queue; what is claimed runs at once, so the bound on jobs at once is workerConcurrency instead of 24; useListenNotify',
  bullmq: 'without Pro; claims only what starts; Redis with appendfsync everysec: a submit does not wait for the disk',
};
