/** Jobs from a scheduler in the worker's process: `local` on an exclusive store, `direct` on a shared database. */

import { hostname } from 'node:os';
import type { LeaseKeeperPlan } from '../core/lease-keeper.ts';
import type { Scheduler } from '../scheduler/scheduler.ts';
import type { JobSource } from '../worker/job-source.ts';

interface LocalSourceOptions {
  scheduler: Scheduler;
  attachment: 'local' | 'direct';
  /** `Store.leaseKeeper`. */
  leaseKeeper?: LeaseKeeperPlan | null;
  version: string;
}

export function localSource({ scheduler, attachment, leaseKeeper = null, version }: LocalSourceOptions): JobSource {
  const { instanceId, leaseMs, heartbeatMs } = scheduler;
  return {
    ...(leaseKeeper === null ? {} : { leaseKeeper }),
    async register(profile, signal) {
      const where = { attachment, instanceId, host: hostname(), pid: process.pid, address: null, registeredBy: null };
      const { id } = await scheduler.register({ ...profile, ...where, leaseMs, version }, signal);
      return { workerId: id, leaseMs, heartbeatMs };
    },
    claim: (request, signal) => scheduler.claim({ ...request, runsSteps: true }, signal),
    endWait: async (workerId, claimSeq) => scheduler.endClaimWait(workerId, claimSeq),
    heartbeat: (beat, signal) => scheduler.heartbeat(beat, signal),
    settle: (settlements, signal) => scheduler.settle(settlements, signal),
    writeOutput: (chunks, signal) => scheduler.writeLogs(chunks, signal),
    report: (reports, signal) => scheduler.report(reports, signal),
    writeCheckpoint: async (checkpoint, signal) =>
      (await scheduler.writeCheckpoint({ ...checkpoint, chunks: checkpoint.chunks() }, signal)) !== null,
    checkpoint: (jobId, signal) => scheduler.checkpoint(jobId, signal),
    writeSteps: (writes, signal) => scheduler.writeSteps(writes, signal),
    readSteps: (request, signal) => scheduler.readSteps(request, signal),
    noteUnused: (unused, signal) => scheduler.noteUnused(unused, signal),
    leave: (workerId, signal) => scheduler.leave(workerId, signal),
    onNudge: (workerId, listener) =>
      scheduler.subscribe((hint) => {
        if (hint.topic === 'workers' && hint.ids.includes(workerId)) listener();
      }),
  };
}
