/** The steps of durable functions: written by the attempt that runs, and brought to the next one with its claim. */

import type { StepsPage, StepWrite, StepWritten } from '../../core/durable.ts';
import { WorkronError } from '../../core/error.ts';
import type { ClaimedJob } from '../../core/job.ts';
import type { LeaseRef } from '../../core/lease.ts';
import type { SchedulerContext } from '../context.ts';
import { settle } from './settle.ts';

/** A worker that knows nothing of steps would do them again: the job waits for another this long. */
const PASS_ON_MS = 5_000;

interface ForWorker {
  workerId: number;
  /** The worker knows of steps. */
  runsSteps: boolean;
  signal: AbortSignal;
}

/** Adds the steps of jobs that have some. Such jobs go only to workers that know of steps. */
export async function withSteps(
  context: SchedulerContext,
  jobs: ClaimedJob[],
  { workerId, runsSteps, signal }: ForWorker,
): Promise<ClaimedJob[]> {
  const durable = jobs.filter(({ steps }) => steps !== undefined);
  if (durable.length === 0) return jobs;
  if (!runsSteps) {
    const error = 'the worker knows nothing of steps; it waits for another';
    const outcome = { type: 'snoozed' as const, delayMs: PASS_ON_MS, error };
    const returned = durable.map(({ id, attempt }) => ({ jobId: id, attempt, workerId, outcome }));
    await settle(context, returned, signal);
    return jobs.filter(({ steps }) => steps === undefined);
  }
  const ids = durable.map(({ id }) => id);
  const pages = await context.store.claimSteps(ids, signal);
  for (const [index, job] of durable.entries()) {
    job.steps = await opened(context, pages[index] as StepsPage, signal);
  }
  return jobs;
}

export async function writeSteps(
  { store, sealing }: SchedulerContext,
  writes: readonly StepWrite[],
  signal: AbortSignal,
): Promise<StepWritten[]> {
  const sealed = writes.some(({ seal }) => seal) ? await sealing.sealSteps(writes) : writes;
  const written = await store.writeSteps(sealed, signal);
  // What was sealed is answered as it was sent.
  return written.map((answer, index) =>
    'step' in answer && sealing.isSealed(answer.step.result)
      ? { step: { ...answer.step, result: writes[index]?.result ?? null } }
      : answer,
  );
}

/** More steps of a job, for the worker that runs it. */
export async function readSteps(
  context: SchedulerContext,
  { jobId, attempt, workerId, after }: LeaseRef & { workerId: number; after: number },
  signal: AbortSignal,
): Promise<StepsPage> {
  const [job] = await context.store.read([jobId], signal);
  if (job?.status !== 'running' || job.attempt !== attempt || job.workerId !== workerId) {
    throw new WorkronError('lease_lost', `Attempt ${attempt} of job ${jobId} is no longer this worker's`, { jobId });
  }
  return await opened(context, await context.store.jobSteps(jobId, after, signal), signal);
}

async function opened({ sealing }: SchedulerContext, page: StepsPage, signal: AbortSignal): Promise<StepsPage> {
  return { ...page, steps: await sealing.openSteps(page.steps, signal) };
}
