/** The calls of workers: register, claim jobs, renew leases, report. */

import type { CheckpointContent, CheckpointInfo } from '../../core/checkpoint.ts';
import type { StepsPage, StepWrite, StepWritten, UnusedSteps } from '../../core/durable.ts';
import { WorkronError } from '../../core/error.ts';
import type { ClaimedJob } from '../../core/job.ts';
import type { HeartbeatAnswer, HeartbeatRequest, LeaseRef, Report } from '../../core/lease.ts';
import type { Settlement } from '../../core/outcome.ts';
import type { LogChunk } from '../../core/output.ts';
import type { NewWorker, WorkerRow } from '../../core/worker.ts';
import type { SchedulerContext } from '../context.ts';
import { readCheckpoint, type WrittenCheckpoint, writeCheckpoint } from './checkpoint.ts';
import { claim, type WorkerClaim } from './claim.ts';
import { reclaimFromGone } from './reclaim.ts';
import { type SettleAnswer, settle } from './settle.ts';
import { readSteps, writeSteps } from './steps.ts';

/** More workers than any installation has. Beyond, offline ones are forgotten, and then registrations are refused. */
const MAX_WORKERS = 10_000;
/** So that the machines of one token leave room for others. */
const MAX_WORKERS_OF_TOKEN = 1_000;

export interface WorkerCalls {
  register(worker: NewWorker, signal: AbortSignal): Promise<WorkerRow>;
  /** Throws `too_many_requests` if this caller has as many workers online as the token of a worker may have. */
  checkRoomOf(registeredBy: string, signal: AbortSignal): Promise<void>;
  /** Waits up to `waitMs` for work, at most for a lease, then answers with an empty list. */
  claim(request: WorkerClaim, signal: AbortSignal): Promise<ClaimedJob[]>;
  /** Ends the waits of the worker's claims up to this number: each answers with the jobs that it has, or none. */
  endClaimWait(workerId: number, claimSeq: number): void;
  /** `undefined`: no such worker. */
  heartbeat(request: HeartbeatRequest, signal: AbortSignal): Promise<HeartbeatAnswer | undefined>;
  /** Returns, in order, `ok` if accepted now or before, `lease_lost` if the attempt is no longer this worker's. */
  settle(settlements: readonly Settlement[], signal: AbortSignal): Promise<SettleAnswer[]>;
  /** Returns for each chunk, in order, whether the worker still holds the attempt. */
  writeLogs(chunks: readonly LogChunk[], signal: AbortSignal): Promise<boolean[]>;
  /** Returns for each report, in order, whether the worker still holds the attempt, so that the report was written. */
  report(reports: readonly Report[], signal: AbortSignal): Promise<boolean[]>;
  /** Returns the number of bytes; `null` if the attempt is no longer this worker's, so that nothing was written. */
  writeCheckpoint(checkpoint: WrittenCheckpoint, signal: AbortSignal): Promise<number | null>;
  /** The last complete checkpoint of any attempt; `null`: none. */
  checkpoint(id: number, signal: AbortSignal): Promise<(CheckpointInfo & CheckpointContent) | null>;
  /** Returns, in order, each step as it is stored, or why it cannot be. */
  writeSteps(writes: readonly StepWrite[], signal: AbortSignal): Promise<StepWritten[]>;
  /** More steps than the claim has brought. Throws `lease_lost` if the attempt is no longer this worker's. */
  readSteps(request: LeaseRef & { workerId: number; after: number }, signal: AbortSignal): Promise<StepsPage>;
  /** Records the names that a function did not ask for. False if the attempt is no longer this worker's. */
  noteUnused(unused: UnusedSteps, signal: AbortSignal): Promise<boolean>;
  leave(workerId: number, signal: AbortSignal): Promise<void>;
  /** Takes back the jobs of a remote worker: its process has ended, and so have its commands. */
  gone(workerId: number, signal: AbortSignal): Promise<void>;
}

interface WorkerCallOptions {
  leaseMs: number;
  /** Claims end early when this aborts. */
  stopped: AbortSignal;
}

export function workerCallsOf(context: SchedulerContext, { leaseMs, stopped }: WorkerCallOptions): WorkerCalls {
  const { store } = context;
  return {
    async register(worker, signal) {
      if ((await store.limitWorkers(MAX_WORKERS - 1, signal)) >= MAX_WORKERS) {
        throw new WorkronError('overloaded', `${MAX_WORKERS} workers are online already`, { retryAfterMs: 30_000 });
      }
      return await store.registerWorker(worker, signal);
    },
    async checkRoomOf(registeredBy, signal) {
      if ((await store.countWorkersOf(registeredBy, signal)) < MAX_WORKERS_OF_TOKEN) return;
      throw new WorkronError(
        'too_many_requests',
        `${MAX_WORKERS_OF_TOKEN} workers of ${registeredBy} are online already: make another token for more`,
        { retryAfterMs: 30_000 },
      );
    },
    claim: ({ waitMs, ...request }, signal) =>
      claim(context, { ...request, waitMs: Math.min(waitMs, leaseMs) }, { signal, stopped }),
    endClaimWait: (workerId, claimSeq) => context.claimWaits.end(workerId, claimSeq),
    async heartbeat({ started = [], ...heartbeat }, signal) {
      const { workerId } = heartbeat;
      const starts = started.map((start) => ({ ...start, workerId }));
      if (starts.length > 0) await store.start(starts, signal);
      const answer = await store.heartbeat(heartbeat, signal);
      if (answer !== undefined && answer.returned.length > 0) await countReturned(context, answer.returned, signal);
      return answer;
    },
    settle: (settlements, signal) => settle(context, settlements, signal),
    writeLogs: (chunks, signal) => store.appendLogs(chunks, signal),
    report: (reports, signal) => store.report(reports, signal),
    writeCheckpoint: (checkpoint, signal) => writeCheckpoint(context, checkpoint, signal),
    checkpoint: (id, signal) => readCheckpoint(context, id, signal),
    writeSteps: (writes, signal) => writeSteps(context, writes, signal),
    readSteps: (request, signal) => readSteps(context, request, signal),
    noteUnused: (unused, signal) => store.noteUnused(unused, signal),
    async leave(workerId, signal) {
      context.claimWaits.forget(workerId);
      await store.leaveWorker(workerId, signal);
    },
    gone: (workerId, signal) => reclaimFromGone(context, workerId, signal),
  };
}

/** Counts claims that went back to their queues. They are back, so an error here must not fail the heartbeat. */
async function countReturned(
  { store, telemetry, log }: SchedulerContext,
  returned: readonly LeaseRef[],
  signal: AbortSignal,
): Promise<void> {
  try {
    const ids = returned.map(({ jobId }) => jobId);
    telemetry.returned(await store.read(ids, signal));
  } catch (error) {
    log.debug({ error, jobs: returned.length }, 'could not count returned jobs');
  }
}
