/** The thread of one isolated job: loads its module, runs its function once. */

import { pathToFileURL } from 'node:url';
import { parentPort, workerData } from 'node:worker_threads';
import { Fatal, type StopCause, Stopped } from '../core/handler-errors.ts';
import type { JobContext } from './context.ts';
import { send, type ThreadData, type ThreadEvent, type ToIsolated, toThread } from './isolated-protocol.ts';
import { isRunnable } from './job.ts';
import { describeIssues } from './schema.ts';

if (parentPort === null) throw new Error('runs as a thread only');
const port = parentPort;
const { module, name, input, context } = workerData as ThreadData;
const stopping = new AbortController();
const calls = new Map<number, PromiseWithResolvers<unknown>>();

port.on('message', (message: ToIsolated) => {
  if (message.type === 'abort') {
    stopping.abort(new Stopped(message.reason.reason as StopCause, message.reason.message));
    return;
  }
  const waiting = calls.get(message.call);
  calls.delete(message.call);
  if (message.error === undefined) waiting?.resolve(message.value);
  else waiting?.reject(new Error(message.error));
});

function ask(make: (call: number) => ThreadEvent): Promise<unknown> {
  const waiting = Promise.withResolvers<unknown>();
  const call = calls.size === 0 ? 1 : Math.max(...calls.keys()) + 1;
  calls.set(call, waiting);
  send(port, make(call));
  return waiting.promise;
}

function notHere(what: string): () => never {
  return () => {
    throw new Fatal(`${what} is not possible in an isolated job`);
  };
}

const own: JobContext = {
  id: String(context.jobId),
  attempt: context.attempt,
  queue: context.queue,
  signal: stopping.signal,
  env: context.env,
  params: context.params,
  item: context.item,
  parents: context.parents,
  log: (line) => send(port, { type: 'log', line } satisfies ThreadEvent),
  progress: (fraction, text) =>
    send(port, { type: 'progress', fraction, ...(text === undefined ? {} : { text }) } satisfies ThreadEvent),
  checkpoint: async (value) => void (await ask((call) => ({ type: 'checkpoint', call, value }))),
  lastCheckpoint: async <Value>() => (await ask((call) => ({ type: 'lastCheckpoint', call }))) as Value | null,
  complete: notHere('complete'),
  submit: notHere('submit'),
};

try {
  const loaded = (await import(/^\w+:/.test(module) ? module : pathToFileURL(module).href)) as object;
  const job = Object.values(loaded)
    .flatMap((value: unknown) => (Array.isArray(value) ? (value as unknown[]) : [value]))
    .filter(isRunnable)
    .find((candidate) => candidate.name === name);
  if (job === undefined) throw new Fatal(`${module} exports no job ${name}, so it cannot be isolated`);
  const checked = job.input === null ? { value: input } : await job.input['~standard'].validate(input);
  if (checked.issues !== undefined)
    throw new Fatal(`the input of ${name} is not valid: ${describeIssues(checked.issues)}`);
  const run = job.run as (input: unknown, context: JobContext) => unknown;
  send(port, { type: 'done', value: await run(checked.value, own) } satisfies ThreadEvent);
} catch (error) {
  send(port, { type: 'failed', error: toThread(error) } satisfies ThreadEvent);
}
