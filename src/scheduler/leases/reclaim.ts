/** Takes back the jobs of workers that are lost. */

import { WorkronError } from '../../core/error.ts';
import type { Job } from '../../core/job.ts';
import type { HeldLease } from '../../core/lease.ts';
import type { LostJob } from '../../store/duty-store.ts';
import type { SchedulerContext } from '../context.ts';
import { decide } from '../jobs/decide.ts';

const BATCH = 1_000;

/** Why jobs are lost. */
type Evidence =
  /** Their leases are over. */
  | { silent: readonly HeldLease[] }
  /** Their workers are dead. */
  | { dead: readonly number[] }
  /** Their worker's process has ended, and the commands that it was responsible for. */
  | { gone: number };

/** Reclaims lost jobs, in batches until none is left. */
export async function reclaim(context: SchedulerContext, evidence: Evidence, signal: AbortSignal): Promise<void> {
  const processEnded = 'gone' in evidence;
  const search = processEnded ? { dead: [evidence.gone] } : evidence;
  for (;;) {
    const found = await context.store.findLost({ limit: BATCH, ...search }, signal);
    // A job that was promised to run on without contact is lost by its lease only.
    const lost = found.filter(({ job }) => !processEnded || job.onDisconnect !== 'finish');
    const seen = new Map(lost.map((one) => [one.job.id, one]));
    const eventFor = (job: Job) => lossOf(job, seen.get(job.id), processEnded);
    const decisions = await decide(context, [...seen.keys()], eventFor, signal);
    const reclaimed = decisions.filter(({ type }) => type === 'changed').length;
    if (reclaimed > 0)
      context.log.warn({ jobs: reclaimed, ids: [...seen.keys()].slice(0, 20) }, 'reclaimed jobs of lost workers');
    if (found.length < BATCH || reclaimed === 0) return;
  }
}

/** The loss of exactly the attempt that was found; a later attempt is not lost. */
function lossOf(job: Job, lost: LostJob | undefined, processEnded: boolean) {
  if (lost === undefined || job.status !== 'running') return undefined;
  if (job.attempt !== lost.job.attempt || job.workerId !== lost.job.workerId) return undefined;
  // Its worker has sent a heartbeat meanwhile.
  if (job.lastHeartbeatAt !== null && job.lastHeartbeatAt !== lost.job.lastHeartbeatAt) return undefined;
  return { type: 'lose' as const, workerSeenAt: lost.workerSeenAt, processEnded };
}

/**
 * Reclaims the jobs of a worker whose launcher reports that the worker's process has ended and that no command of it is
 * left. The worker is offline first, so that a claim that is still waiting for it is given nothing.
 */
export async function reclaimFromGone(context: SchedulerContext, workerId: number, signal: AbortSignal): Promise<void> {
  const { store, claimWaits, log } = context;
  const worker = (await store.workers(signal)).find(({ id }) => id === workerId);
  if (worker === undefined) throw new WorkronError('worker_not_found', `No worker ${workerId}`);
  if (worker.attachment !== 'remote') {
    const message = `Worker ${workerId} is ${worker.attachment}: only the process of a remote worker is reported over HTTP`;
    throw new WorkronError('bad_request', message);
  }
  log.warn({ worker_id: workerId }, 'the process of a worker ended; reclaiming its jobs');
  claimWaits.forget(workerId);
  await store.leaveWorker(workerId, signal);
  await reclaim(context, { gone: workerId }, signal);
}
