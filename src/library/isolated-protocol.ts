/** Messages between the thread of an isolated job and its caller. */

import { workerData } from 'node:worker_threads';
import { type ErrorCode, isWorkronError, WorkronError } from '../core/error.ts';
import { Cancel, Fatal, RateLimited, RetryAfter, Snooze } from '../core/handler-errors.ts';
import type { Thrown } from '../core/outcome.ts';
import { textOfThrown, thrownOf } from '../worker/run/thrown.ts';
import type { ChildOptions, JobContext } from './context.ts';
import type { JobCalls } from './engine.ts';
import type { JobOptions } from './options.ts';
import { InvalidInput } from './schema.ts';

export interface ThreadData {
  /** Marks the thread, so that `open` can refuse it. */
  isolatedJob: true;
  /** The module that exports the job. */
  module: string;
  name: string;
  input: unknown;
  context: Pick<JobContext, 'id' | 'attempt' | 'queue' | 'env' | 'params' | 'item' | 'parents' | 'tick' | 'gang'>;
}

/**
 * Throws in the thread of an isolated job. The thread loads the job's module; a module that opens a Workron when it is
 * loaded would start another thread for the next isolated job, which loads the module again, and so on.
 */
export function refuseInThread(): void {
  const { isolatedJob, name } = (workerData ?? {}) as Partial<ThreadData>;
  if (isolatedJob !== true) return;
  throw new WorkronError(
    'bad_request',
    `open: refused in the thread of the isolated job ${name}, which loads the module of the job; ` +
      'call open() and start() in another module',
  );
}

/** Calls of the thread that get an answer. */
export type ThreadCall =
  | { what: 'checkpoint'; value: unknown }
  | { what: 'lastCheckpoint' }
  /** Input and options have been checked and are plain values. */
  | { what: 'submit'; job: { name: string; options: JobOptions }; input: unknown; options: ChildOptions }
  | { what: 'wait'; id: string; timeoutMs: number }
  | { what: keyof JobCalls['api']; id: string };

export type ThreadEvent =
  | { type: 'log'; line: string }
  | { type: 'progress'; fraction: number; text?: string }
  | ({ type: 'call'; call: number } & ThreadCall)
  | { type: 'done'; value: unknown }
  | { type: 'failed'; error: ThreadError };

export type ToIsolated =
  | { type: 'answer'; call: number; value?: unknown; error?: ThreadError }
  | { type: 'abort'; reason: { reason: string; message: string } };

interface ThreadError {
  name: string;
  message: string;
  stack: string | undefined;
  delayMs: number | undefined;
  /** The rate that it closes. */
  key: string | undefined;
  code: ErrorCode | undefined;
  /** What the process reports about it. */
  thrown: Thrown | undefined;
}

export function toThread(error: unknown): ThreadError {
  const text = textOfThrown(error);
  const { thrown } = thrownOf(error);
  if (thrown === undefined)
    return { name: 'Error', message: text, stack: text, delayMs: undefined, key: undefined, code: undefined, thrown };
  const { delayMs } = error as { delayMs?: number };
  const key = error instanceof RateLimited ? error.key : undefined;
  const code = isWorkronError(error) ? error.code : undefined;
  return { name: thrown.name, message: thrown.message, stack: text, delayMs, key, code, thrown };
}

/** Restores an error of the other side, with its class if it is one of ours. */
export function fromThread({ name, message, stack, delayMs = 0, key, code, thrown }: ThreadError): Error {
  const error = code === undefined ? again(name, message, { delayMs, key }) : new WorkronError(code, message);
  if (stack !== undefined) error.stack = stack;
  if (thrown === undefined || code !== undefined) return error;
  const { code: own, details, causes, errors } = thrown;
  const members = errors === undefined ? {} : { errors: errors.map((one) => chainOf([one])) };
  return Object.assign(error, own === null ? {} : { code: own }, { details, cause: chainOf(causes), ...members });
}

/** Causes as errors, each the cause of the one before. Their stacks are part of the outer error's stack. */
function chainOf(causes: Thrown['causes']): Error | undefined {
  return causes.reduceRight<Error | undefined>((cause, { name, message, code }) => {
    const error = Object.assign(new Error(message), { name, stack: '', ...(code === null ? {} : { code }) });
    return cause === undefined ? error : Object.assign(error, { cause });
  }, undefined);
}

function again(name: string, message: string, { delayMs, key }: { delayMs: number; key: string | undefined }): Error {
  switch (name) {
    case 'RetryAfter':
      return new RetryAfter(delayMs, message);
    case 'Snooze':
      return new Snooze(delayMs, message);
    case 'RateLimited':
      return new RateLimited(delayMs, { reason: message, ...(key !== undefined && { key }) });
    case 'Fatal':
      return new Fatal(message);
    case 'InvalidInput':
      return new InvalidInput(message);
    case 'Cancel':
      return new Cancel(message);
    default: {
      const error = new Error(message);
      error.name = name;
      return error;
    }
  }
}

export function send(port: Port, message: ThreadEvent | ToIsolated): void {
  port.postMessage(message);
}

interface Port {
  postMessage(message: unknown): void;
}
