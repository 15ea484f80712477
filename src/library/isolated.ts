/** Runs a job's function in a separate thread: it cannot block this event loop, and it can be terminated. */

import { Fatal } from '../core/handler-errors.ts';
import type { Part } from '../core/part.ts';
import { startThread } from '../ops/start-part.ts';
import type { JobContext } from './context.ts';
import type { JobCalls } from './engine.ts';
import { fromThread, send, type ThreadCall, type ThreadData, type ThreadEvent, toThread } from './isolated-protocol.ts';
import { type JobType, job, type RunnableJob } from './job.ts';

/** The thread is terminated this long before the kill grace ends, so that it is gone when the attempt is settled. */
const EARLY_MS = 50;

const THREAD: Part = { file: new URL('./isolated-thread.ts', import.meta.url) };

interface IsolatedRun {
  input: unknown;
  context: JobContext;
  /** How long the function may take to stop after its signal has aborted. */
  killGraceMs: number;
  /** Calls for the handles of its children. */
  calls: JobCalls;
}

/** Resolves with the result of the function. Rejects with its error, or if the thread was terminated. */
export async function runIsolated({ name, isolate }: RunnableJob, run: IsolatedRun): Promise<unknown> {
  const { id, attempt, queue, env, params, item, parents, tick, gang, signal, log, progress } = run.context;
  const data: ThreadData = {
    isolatedJob: true,
    module: isolate as string,
    name,
    input: run.input,
    context: { id, attempt, queue, env, params, item, parents, tick, gang },
  };
  const thread = await startThread(THREAD, { workerData: data, name: `workron-job-${id}` });
  return await new Promise((resolve, reject) => {
    let end: NodeJS.Timeout | undefined;
    const stop = () => {
      send(thread, { type: 'abort', reason: reasonOf(signal) });
      end = setTimeout(() => void thread.terminate(), Math.max(0, run.killGraceMs - EARLY_MS));
    };
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
    const settle = (settled: () => void) => {
      clearTimeout(end);
      signal.removeEventListener('abort', stop);
      settled();
    };
    const answer = async (call: number, wanted: ThreadCall) => {
      try {
        send(thread, { type: 'answer', call, value: await answerOf(wanted, run) });
      } catch (error) {
        send(thread, { type: 'answer', call, error: toThread(error) });
      }
    };
    thread.on('message', (event: ThreadEvent) => {
      switch (event.type) {
        case 'log':
          return log(event.line);
        case 'progress':
          return progress(event.fraction, event.text);
        case 'call':
          return void answer(event.call, event);
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
        reject(signal.aborted ? (signal.reason as Error) : new Fatal(`the thread of ${name} exited with code ${code}`)),
      ),
    );
  });
}

/** Returns plain values, which can be sent to another thread. */
async function answerOf(wanted: ThreadCall, { context, calls }: IsolatedRun): Promise<unknown> {
  switch (wanted.what) {
    case 'checkpoint':
      return context.checkpoint(wanted.value);
    case 'lastCheckpoint':
      return context.lastCheckpoint();
    case 'submit': {
      const type: JobType<unknown> = job(wanted.job.name, wanted.job.options);
      const { id, deduplicated } = await context.submit(type, wanted.input, wanted.options);
      return { id, deduplicated };
    }
    case 'wait':
      return calls.wait(wanted.id, wanted.timeoutMs, context.signal);
    case 'readJob':
    case 'cancelJob':
    case 'retryJob':
      return calls.api[wanted.what](wanted.id, { signal: context.signal });
  }
}

function reasonOf({ reason }: AbortSignal): { reason: string; message: string } {
  const { reason: word = 'shutdown', message } = reason as { reason?: string; message: string };
  return { reason: word, message };
}
