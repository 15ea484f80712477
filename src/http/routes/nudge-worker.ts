import { systemClock } from '../../ops/clock.ts';
import { Wake } from '../../ops/wake.ts';
import type { Scheduler } from '../../scheduler/scheduler.ts';
import { pathId } from '../path-id.ts';
import { releaseAfter } from '../release-after.ts';
import { defineRoute } from '../route.ts';
import { HEARTBEAT_MS, SSE_TYPE, sseComment, sseEvent } from '../sse.ts';

export const nudgeWorker = defineRoute({
  method: 'GET',
  path: '/workers/:id/nudges',
  scope: 'work',
  summary: 'Events that tell a worker not to wait with its next heartbeat: a cancel, a drain',
  long: true,
  quiet: true,
  answers: { 200: { type: SSE_TYPE } },
  async handle({ scheduler, params, polls, signal }) {
    const workerId = pathId(params, 'worker_not_found');
    return { status: 200, type: SSE_TYPE, chunks: releaseAfter(polls.take(), nudges(scheduler, workerId, signal)) };
  },
});

async function* nudges(scheduler: Scheduler, workerId: number, signal: AbortSignal): AsyncGenerator<string> {
  const wake = new Wake();
  let nudged = false;
  const unsubscribe = scheduler.subscribe((hint) => {
    if (hint.topic !== 'workers' || !hint.ids.includes(workerId)) return;
    nudged = true;
    wake.fire();
  });
  try {
    yield sseComment('welcome');
    while (!signal.aborted) {
      wake.reset();
      if (!nudged) await wake.sleep(systemClock, HEARTBEAT_MS, signal);
      const told = nudged;
      nudged = false;
      if (!signal.aborted) yield told ? sseEvent({ event: 'nudge', data: '{}' }) : sseComment('alive');
    }
  } finally {
    unsubscribe();
  }
}
