/** Messages between the thread of an isolated job and its caller. */

import { type ErrorCode, isWorkronError, WorkronError } from '../core/error.ts';
import { Cancel, Fatal, RetryAfter, Snooze } from '../core/handler-errors.ts';
import type { ChildOptions, JobContext } from './context.ts';
import type { JobOptions } from './options.ts';

export interface ThreadData {
  /** The module that exports the job. */
  module: string;
  name: string;
  input: unknown;
  context: Pick<JobContext, 'id' | 'attempt' | 'queue' | 'env' | 'params' | 'item' | 'parents' | 'tick'>;
}

/** Calls of the thread that get an answer. */
export type ThreadCall =
  | { what: 'checkpoint'; value: unknown }
  | { what: 'lastCheckpoint' }
  /** Input and options have been checked and are plain values. */
  | { what: 'submit'; job: { name: string; options: JobOptions }; input: unknown; options: ChildOptions }
  | { what: 'wait'; id: string; timeoutMs: number }
  | { what: 'job' | 'cancel' | 'retry'; id: string };

export type ThreadEvent =
  | { type: 'log'; line: string }
  | { type: 'progress'; fraction: number; text?: string }
  | ({ type: 'call'; call: number } & ThreadCall)
  | { type: 'done'; value: unknown }
  | { type: 'failed'; error: ThreadError };

export type ToIsolated =
  | { type: 'answer'; call: number; value?: unknown; error?: ThreadError }
  | { type: 'abort'; reason: { reason: string; message: string } };

export interface ThreadError {
  name: string;
  message: string;
  stack: string | undefined;
  delayMs: number | undefined;
  code: ErrorCode | undefined;
}

export function toThread(error: unknown): ThreadError {
  const { name, message, stack } = error instanceof Error ? error : new Error(String(error));
  const code = isWorkronError(error) ? error.code : undefined;
  return { name, message, stack, delayMs: (error as { delayMs?: number } | null)?.delayMs, code };
}

/** Restores an error of the other side, with its class if it is one of ours. */
export function fromThread({ name, message, stack, delayMs = 0, code }: ThreadError): Error {
  const error = code === undefined ? again(name, message, delayMs) : new WorkronError(code, message);
  if (stack !== undefined) error.stack = stack;
  return error;
}

function again(name: string, message: string, delayMs: number): Error {
  switch (name) {
    case 'RetryAfter':
      return new RetryAfter(delayMs, message);
    case 'Snooze':
      return new Snooze(delayMs);
    case 'Fatal':
      return new Fatal(message);
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
