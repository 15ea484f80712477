/** Judges the ticks of schedules when they are due. */

import { isWorkronError } from '../../core/error.ts';
import type { Run } from '../../core/schedule/tick.ts';
import type { Loop } from '../../ops/loop.ts';
import type { Wake } from '../../ops/wake.ts';
import type { Ticked } from '../../store/schedule-store.ts';
import type { SchedulerContext } from '../context.ts';
import { cancel } from '../jobs/change-job.ts';
import { withInstallationTargets } from '../notify/targets.ts';
import { AdaptiveBatch } from '../schedules/adaptive-batch.ts';
import { cancelWorkflow } from '../workflows/workflows.ts';

/** Bounds how late a schedule made by another process is noticed if its hint was lost. Sleeps are up to a tenth shorter. */
const SHARED_POLL_MS = 1_200;
const EXCLUSIVE_POLL_MS = 10_000;
/** How long to leave due ticks to the instance that is judging them. */
const CONTENDED_MS = 50;

/** Sleeps until the next tick is due; woken when a schedule is made or changed. */
export function ticker(context: SchedulerContext, wake: Wake): Loop & Disposable {
  const { store } = context;
  const pollMs = store.exclusive ? EXCLUSIVE_POLL_MS : SHARED_POLL_MS;
  const unsubscribe = store.subscribe((hint) => {
    if (hint.topic === 'schedules') wake.fire();
  });
  const batch = new AdaptiveBatch(context);
  batch.startSmall();
  const notify = withInstallationTargets([], context.notify);
  return {
    name: 'ticker',
    everyMs: pollMs,
    wake,
    async tick(signal) {
      const ticked = await batch.judge((size) => store.tick({ ...size, notify }, signal), signal);
      if (ticked === 'too_large') return 0;
      logContended(context, ticked.contended);
      await stopReplaced(context, ticked.stop, signal);
      if (ticked.more) return 0;
      if (ticked.nextDueAt === null) return undefined;
      if (ticked.nextDueAt <= ticked.now && ticked.contended.length > 0) return CONTENDED_MS;
      return Math.min(pollMs, Math.max(0, ticked.nextDueAt - ticked.now) + 1);
    },
    /** While there was no leader, due ticks have piled up: a new leader begins with a small batch. */
    async standby() {
      batch.startSmall();
    },
    [Symbol.dispose]: unsubscribe,
  };
}

function logContended({ log, instanceId }: SchedulerContext, contended: Ticked['contended']): void {
  for (const { schedule, dueAt } of contended) {
    const due = new Date(dueAt).toISOString();
    log.debug({ schedule, due, instance_id: instanceId }, 'another instance is judging this tick');
  }
}

/**
 * Asks the runs that a tick replaces to stop, the newest first: a waiting run must not become free because the one before
 * it was cancelled, while an older one still runs. What is not finished here is returned by the next `tick` of any
 * instance.
 */
async function stopReplaced(context: SchedulerContext, stop: Ticked['stop'], signal: AbortSignal): Promise<void> {
  for (const { runs } of stop.toReversed()) for (const run of runs.toReversed()) await stopRun(context, run, signal);
  if (stop.length > 0) {
    await context.store.stoppedOthers(
      stop.map(({ tickId }) => tickId),
      signal,
    );
  }
}

async function stopRun(context: SchedulerContext, { jobId, workflowId }: Run, signal: AbortSignal): Promise<void> {
  try {
    if (jobId !== null) await cancel(context, { id: jobId, keepChildren: false }, signal);
    else if (workflowId !== null) await cancelWorkflow(context, workflowId, signal);
  } catch (error) {
    // It has ended meanwhile, or was deleted: either way it does not run.
    const isOver = ['illegal_transition', 'job_not_found', 'workflow_not_found'] as const;
    if (!isOver.some((code) => isWorkronError(error, code))) throw error;
  }
}
