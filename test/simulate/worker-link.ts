/** The job source of a worker over the network. */

import { NEVER } from '../../src/core/never.ts';
import type { Settlement } from '../../src/core/outcome.ts';
import type { Store } from '../../src/store/store.ts';
import type { JobSource, Registration } from '../../src/worker/job-source.ts';
import type { Conditions } from './conditions.ts';
import type { SchedulerProcess } from './scheduler-process.ts';
import type { Part } from './virtual-time.ts';
import { Wire } from './wire.ts';

/** The longest poll over HTTP. */
const MAX_WAIT_MS = 5_000;

interface WorkerLinkOptions {
  part: Part;
  index: number;
  schedulers: readonly SchedulerProcess[];
  conditions: Conditions;
  store: Store;
  /** Called when a scheduler has answered a report, whether or not the answer arrives. */
  onSettled: (settlements: readonly Settlement[], answers: readonly string[]) => Promise<void>;
}

export function linkWorker({ part, index, schedulers, conditions, store, onSettled }: WorkerLinkOptions): JobSource {
  const wire = new Wire({ sender: part, target: index, schedulers, conditions });
  return {
    register: (profile, signal) =>
      wire.call<Registration>({
        signal,
        async run(scheduler, hungUp) {
          const { instanceId, leaseMs, heartbeatMs } = scheduler;
          const place = { host: 'host', pid: 1, address: null, registeredBy: null };
          const where = { attachment: 'remote' as const, instanceId, ...place };
          const { id } = await scheduler.register({ ...profile, ...where, leaseMs, version: '0.0.0' }, hungUp);
          return { workerId: id, leaseMs, heartbeatMs };
        },
      }),
    claim(request, signal) {
      const waitMs = Math.min(request.waitMs, MAX_WAIT_MS);
      return wire.call({
        signal,
        waitMs,
        run: (scheduler, hungUp) => scheduler.claim({ ...request, waitMs, runsSteps: true }, hungUp),
      });
    },
    endWait: (workerId, claimSeq, signal) =>
      wire.call({ signal, run: async (scheduler) => scheduler.endClaimWait(workerId, claimSeq) }),
    heartbeat: (beat, signal) => wire.call({ signal, run: (scheduler) => scheduler.heartbeat(beat, NEVER) }),
    settle: (settlements: readonly Settlement[], signal) =>
      wire.call({
        signal,
        async run(scheduler) {
          const answers = await scheduler.settle(settlements, NEVER);
          await onSettled(settlements, answers);
          return answers;
        },
      }),
    writeOutput: (chunks, signal) => wire.call({ signal, run: (scheduler) => scheduler.writeLogs(chunks, NEVER) }),
    report: (reports, signal) => wire.call({ signal, run: (scheduler) => scheduler.report(reports, NEVER) }),
    writeCheckpoint: (checkpoint, signal) =>
      wire.call({
        signal,
        run: async (scheduler) =>
          (await scheduler.writeCheckpoint({ ...checkpoint, chunks: checkpoint.chunks() }, NEVER)) !== null,
      }),
    checkpoint: (jobId, signal) => wire.call({ signal, run: (scheduler) => scheduler.checkpoint(jobId, NEVER) }),
    writeSteps: (writes, signal) => wire.call({ signal, run: (scheduler) => scheduler.writeSteps(writes, NEVER) }),
    readSteps: (request, signal) => wire.call({ signal, run: (scheduler) => scheduler.readSteps(request, NEVER) }),
    noteUnused: (unused, signal) => wire.call({ signal, run: (scheduler) => scheduler.noteUnused(unused, NEVER) }),
    leave: (workerId, signal) => wire.call({ signal, run: (scheduler) => scheduler.leave(workerId, NEVER) }),
    onNudge(workerId, listener) {
      const stop = store.subscribe((hint) => {
        if (hint.topic !== 'workers' || !hint.ids.includes(workerId)) return;
        const ms = conditions.isTroubled(index) ? null : conditions.hintMs(part);
        if (ms !== null) part.time.after(ms, part, listener);
      });
      part.onDeath(stop);
      return stop;
    },
  };
}
