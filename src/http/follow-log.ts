/** Reads the output of a job in order, to its current end or until the job has ended. */

import { isTerminal, type Job } from '../core/job.ts';
import { systemClock } from '../ops/clock.ts';
import { Wake } from '../ops/wake.ts';
import type { Scheduler } from '../scheduler/scheduler.ts';

const POLL_MS = 500;
const SLICE_BYTES = 256 * 1024;

export interface Position {
  id: number;
  /** `null`: the current or last attempt. */
  attempt: number | null;
  from: number;
}

export type LogItem =
  | { type: 'output'; attempt: number; offset: number; data: Uint8Array; receivedAt: number }
  /** `bytes` bytes before `offset` were not kept. */
  | { type: 'cut'; attempt: number; offset: number; bytes: number }
  /** Output of another attempt follows. */
  | { type: 'attempt'; attempt: number }
  /** There is nothing new at the moment. */
  | { type: 'idle' }
  /** Nothing will follow. */
  | { type: 'end'; job: Job };

/** Yields the output that there is now. */
export async function* readLog(scheduler: Scheduler, position: Position, signal: AbortSignal): AsyncGenerator<LogItem> {
  let { attempt, from } = position;
  for (;;) {
    const slice = await scheduler.log({ id: position.id, attempt, from, maxBytes: SLICE_BYTES }, signal);
    attempt = slice.attempt;
    if (slice.pieces.length === 0) return;
    for (const { offset, data, receivedAt } of slice.pieces) {
      if (offset > from) yield { type: 'cut', attempt, offset, bytes: offset - from };
      const start = Math.max(offset, from);
      yield { type: 'output', attempt, offset: start, data: data.subarray(start - offset), receivedAt };
      from = offset + data.length;
    }
  }
}

/** Yields output as it is written, over all attempts, until the job has ended; with `only`, of the one attempt. */
export async function* followLog(
  scheduler: Scheduler,
  position: Position & { only: boolean },
  signal: AbortSignal,
): AsyncGenerator<LogItem> {
  const wake = new Wake();
  const unsubscribe = scheduler.subscribe((hint) => {
    if (hint.topic === 'jobs' && hint.ids.includes(position.id)) wake.fire();
  });
  let attempt = position.attempt ?? (await currentJob(scheduler, position.id, signal)).attempt;
  let { from } = position;
  try {
    while (!signal.aborted) {
      wake.reset();
      const job = await currentJob(scheduler, position.id, signal);
      for await (const item of readLog(scheduler, { id: position.id, attempt, from }, signal)) {
        yield item;
        if (item.type === 'output') from = item.offset + item.data.length;
      }
      // The job was read before its output, so all that was printed up to that state has been sent.
      const ended = isTerminal(job.status) || job.attempt > attempt;
      if (ended && (position.only || job.attempt <= attempt)) return yield { type: 'end', job };
      if (job.attempt > attempt) {
        attempt += 1;
        from = 0;
        if (attempt > 1) yield { type: 'attempt', attempt };
        continue;
      }
      yield { type: 'idle' };
      await wake.sleep(systemClock, POLL_MS, signal);
    }
  } finally {
    unsubscribe();
  }
}

function currentJob(scheduler: Scheduler, id: number, signal: AbortSignal): Promise<Job> {
  return scheduler.wait(id, 0, signal);
}
