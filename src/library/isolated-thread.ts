/** The thread of one isolated job: loads its module, runs its function once. */

import { pathToFileURL } from 'node:url';
import { parentPort, workerData } from 'node:worker_threads';
import { isWorkronError } from '../core/error.ts';
import { Fatal, type StopCause, Stopped } from '../core/handler-errors.ts';
import { checkInput } from './check-input.ts';
import type { ChildOptions, JobContext } from './context.ts';
import type { JobCalls, Submitted } from './engine.ts';
import { Handle } from './handle.ts';
import { fromThread, send, type ThreadCall, type ThreadData, type ToIsolated, toThread } from './isolated-protocol.ts';
import { isRunnable, type JobType } from './job.ts';
import { parentsOf } from './options.ts';
import { InvalidInput } from './schema.ts';

if (parentPort === null) throw new Error('runs as a thread only');
const port = parentPort;
const { module, name, input, context } = workerData as ThreadData;
const stopping = new AbortController();
const calls = new Map<number, PromiseWithResolvers<unknown>>();
let lastCall = 0;

port.on('message', (message: ToIsolated) => {
  if (message.type === 'abort') {
    stopping.abort(new Stopped(message.reason.reason as StopCause, message.reason.message));
    return;
  }
  const waiting = calls.get(message.call);
  calls.delete(message.call);
  if (message.error === undefined) waiting?.resolve(message.value);
  else waiting?.reject(fromThread(message.error));
});

/** Calls the process, and waits for its answer. */
async function ask(call: ThreadCall): Promise<unknown> {
  const waiting = Promise.withResolvers<unknown>();
  lastCall += 1;
  calls.set(lastCall, waiting);
  send(port, { type: 'call', call: lastCall, ...call });
  return waiting.promise;
}

/** Calls for the handles of children. A wait that is aborted here ends in the process by itself. */
const children: JobCalls = {
  async wait(id, timeoutMs, signal) {
    const givenUp = Promise.withResolvers<never>();
    const giveUp = () => givenUp.reject(signal.reason as Error);
    signal.addEventListener('abort', giveUp, { once: true });
    try {
      const ended = ask({ what: 'wait', id, timeoutMs });
      return (await Promise.race([ended, givenUp.promise])) as Awaited<ReturnType<JobCalls['wait']>>;
    } finally {
      signal.removeEventListener('abort', giveUp);
    }
  },
  api: {
    readJob: (id) => ask({ what: 'readJob', id }) as Promise<never>,
    cancelJob: (id) => ask({ what: 'cancelJob', id }) as Promise<never>,
    retryJob: (id) => ask({ what: 'retryJob', id }) as Promise<never>,
  },
};

/** The input is checked here, as a schema cannot be sent to the process. */
async function submit(type: JobType, given?: unknown, options: ChildOptions = {}): Promise<Handle<never>> {
  const { signal: _, dependsOn, ...plain } = options;
  const submitted = await ask({
    what: 'submit',
    job: { name: type.name, options: type.options },
    input: await checkInput(type, given),
    options: { ...plain, ...(dependsOn === undefined ? {} : { dependsOn: parentsOf(dependsOn) }) },
  });
  const { id, deduplicated } = submitted as Submitted;
  return new Handle<never>(children, id, deduplicated);
}

/** They are stored by the process, which cannot suspend a thread. */
function noSteps(): Promise<never> {
  return Promise.reject(new Fatal('steps: not supported in an isolated job; drop isolate', { code: 'step_refused' }));
}

const own: JobContext = {
  ...context,
  signal: stopping.signal,
  log: (line) => send(port, { type: 'log', line }),
  progress: (fraction, text) => send(port, { type: 'progress', fraction, ...(text === undefined ? {} : { text }) }),
  checkpoint: async (value) => void (await ask({ what: 'checkpoint', value })),
  lastCheckpoint: async <Value>() => (await ask({ what: 'lastCheckpoint' })) as Value | null,
  complete: () =>
    Promise.reject(
      new Fatal('complete: not supported in an isolated job, as its transaction cannot leave the thread; drop isolate'),
    ),
  step: () => noSteps(),
  sleep: () => noSteps(),
  submit: (type: JobType, ...[given, options]: [unknown?, ChildOptions?]) => submit(type, given, options),
};

function finish(value: unknown): void {
  try {
    send(port, { type: 'done', value });
  } catch (error) {
    // What cannot leave the thread is not JSON either. The next attempt would return it again.
    throw new Fatal(`the result is not JSON: ${error instanceof Error ? error.message : 'it cannot be copied'}`);
  }
}

/** A module that opens a Workron will do so again, so the job is not retried. */
async function load(): Promise<object> {
  try {
    return (await import(/^\w+:/.test(module) ? module : pathToFileURL(module).href)) as object;
  } catch (error) {
    if (isWorkronError(error, 'bad_request')) throw new Fatal(`isolate: ${error.message}`, { cause: error });
    throw error;
  }
}

try {
  const loaded = await load();
  const job = Object.values(loaded)
    .flatMap((value: unknown) => (Array.isArray(value) ? (value as unknown[]) : [value]))
    .filter(isRunnable)
    .find((candidate) => candidate.name === name);
  if (job === undefined) throw new Fatal(`isolate: ${module} does not export the job ${name}`);
  const checked = job.input === null ? { value: input } : await job.input['~standard'].validate(input);
  if (checked.issues !== undefined) throw InvalidInput.of(name, checked.issues);
  const run = job.run as (input: unknown, context: JobContext) => unknown;
  finish(await run(checked.value, own));
} catch (error) {
  send(port, { type: 'failed', error: toThread(error) });
}
