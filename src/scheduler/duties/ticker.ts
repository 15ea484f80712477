/** Judges the ticks of schedules when they are due. */

import { isWorkronError } from '../../core/error.ts';
import type { Run } from '../../core/schedule/tick.ts';
import type { Loop } from '../../ops/loop.ts';
import type { Wake } from '../../ops/wake.ts';
import type { Ticked } from '../../store/schedule-store.ts';
import type { SchedulerContext } from '../context.ts';
import { cancel } from '../jobs/change-job.ts';
import { withInstallation } from '../notify/targets.ts';
import { AdaptiveBatch, BATCH } from '../schedules/adaptive-batch.ts';
import { reportTicks } from '../schedules/report-ticks.ts';
import { cancelWorkflow } from '../workflows/workflows.ts';

/** A schedule made by another process is known by then even if its hint was lost. Naps are up to a tenth shorter. */
const SHARED_POLL_MS = 1_200;
const EXCLUSIVE_POLL_MS = 10_000;
/** Whoever is at work on what is due needs a moment. */
const CONTENDED_MS = 50;

/** Sleeps until the next tick is due; woken when a schedule is made or changed. */
export function ticker(context: SchedulerContext, wake: Wake): Loop & Disposable {
  const { store } = context;
  const pollMs = store.exclusive ? EXCLUSIVE_POLL_MS : SHARED_POLL_MS;
  const unsubscribe = store.subscribe((hint) => {
    if (hint.topic === 'schedules') wake.fire();
  });
  const pieces = new AdaptiveBatch(store);
  const notify = withInstallation([], context.notify);
  return {
    name: 'ticker',
    everyMs: pollMs,
    wake,
    async tick(signal) {
      const told = await pieces.attempt((lines) => store.tick({ limit: BATCH, lines, notify }, signal), signal);
      if (told === undefined) return 0;
      report(context, told);
      await stopOthers(context, told.stop, signal);
      if (told.more) return 0;
      if (told.nextDueAt === null) return undefined;
      if (told.nextDueAt <= told.now && told.contended.length > 0) return CONTENDED_MS;
      return Math.min(pollMs, Math.max(0, told.nextDueAt - told.now) + 1);
    },
    [Symbol.dispose]: unsubscribe,
  };
}

function report(context: SchedulerContext, told: Ticked): void {
  reportTicks(context, told);
  for (const { schedule, dueAt } of told.contended) {
    const due = new Date(dueAt).toISOString();
    const fields = { schedule, due, instance_id: context.instanceId };
    context.log.debug(fields, 'another instance is judging this tick, or has');
  }
}

/** Asks runs to stop that a tick has replaced. What is left undone here is told again by the next round of any instance. */
async function stopOthers(context: SchedulerContext, stop: Ticked['stop'], signal: AbortSignal): Promise<void> {
  for (const { runs } of stop) for (const run of runs) await stopRun(context, run, signal);
  if (stop.length > 0) {
    await context.store.stoppedOthers(
      stop.map(({ tickId }) => tickId),
      signal,
    );
  }
}

async function stopRun(context: SchedulerContext, { jobId, workflowId }: Run, signal: AbortSignal): Promise<void> {
  try {
    if (jobId !== null) await cancel(context, { id: jobId, keepDependents: false }, signal);
    else if (workflowId !== null) await cancelWorkflow(context, workflowId, signal);
  } catch (error) {
    // It has ended meanwhile, or is gone: either way it does not run.
    const isOver = ['illegal_transition', 'job_not_found', 'workflow_not_found'] as const;
    if (!isOver.some((code) => isWorkronError(error, code))) throw error;
  }
}
