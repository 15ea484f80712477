/** Runs a job's function in a thread of its own: a blocked loop there blocks nobody here, and its end can be forced. */

import { Worker } from 'node:worker_threads';
import { Fatal } from '../core/handler-errors.ts';
import type { HandlerContext } from '../worker/handler-executor.ts';
import { fromThread, send, type ThreadAnswer, type ThreadData, type ThreadEvent } from './isolated-protocol.ts';
import type { RunnableJob } from './job.ts';

/** How long before the grace is over the thread is ended, so that the attempt is settled with nothing left of it. */
const EARLY_MS = 50;

/** Resolves with the function's answer, rejects with what it threw, or because the thread was ended. */
export function runIsolated({ name, isolate }: RunnableJob, input: unknown, context: HandlerContext): Promise<unknown> {
  const extension = import.meta.url.slice(import.meta.url.lastIndexOf('.'));
  const { jobId, attempt, queue, env, params, item, parents } = context;
  const data: ThreadData = {
    module: isolate as string,
    name,
    input,
    context: { jobId, attempt, queue, env, params, item, parents },
  };
  return new Promise((resolve, reject) => {
    const thread = new Worker(new URL(`./isolated-thread${extension}`, import.meta.url), {
      workerData: data,
      name: `workron-job-${jobId}`,
    });
    let end: NodeJS.Timeout | undefined;
    const { signal } = context;
    const stop = () => {
      send(thread, { type: 'abort', reason: reasonOf(signal) });
      end = setTimeout(() => void thread.terminate(), Math.max(0, context.killGraceMs - EARLY_MS));
    };
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
    const settle = (settled: () => void) => {
      clearTimeout(end);
      signal.removeEventListener('abort', stop);
      settled();
    };
    const answer = (call: number, result: Promise<unknown>) => {
      const reply = (message: ThreadAnswer) => send(thread, message);
      result.then(
        (value) => reply({ type: 'answer', call, value }),
        (error: unknown) => reply({ type: 'answer', call, error: String(error) }),
      );
    };
    thread.on('message', (event: ThreadEvent) => {
      switch (event.type) {
        case 'log':
          return context.log(event.line);
        case 'progress':
          return context.progress(event.fraction, event.text);
        case 'checkpoint':
          return answer(event.call, context.checkpoint(event.value));
        case 'lastCheckpoint':
          return answer(event.call, context.lastCheckpoint());
        case 'done':
          settle(() => resolve(event.value));
          return void thread.terminate();
        case 'failed':
          settle(() => reject(fromThread(event.error)));
          return void thread.terminate();
      }
    });
    thread.on('error', (error) => settle(() => reject(error)));
    thread.on('exit', (code) =>
      settle(() =>
        reject(
          signal.aborted ? (signal.reason as Error) : new Fatal(`the thread of ${name} ended by itself (${code})`),
        ),
      ),
    );
  });
}

function reasonOf({ reason }: AbortSignal): { reason: string; message: string } {
  const { reason: word = 'shutdown', message } = reason as { reason?: string; message: string };
  return { reason: word, message };
}
