/** What an isolated job's thread and its caller tell each other. */

import { Cancel, Fatal, RetryAfter, Snooze } from '../core/handler-errors.ts';
import type { HandlerContext } from '../worker/handler-executor.ts';

export interface ThreadData {
  /** Exports the job. */
  module: string;
  name: string;
  input: unknown;
  context: Pick<HandlerContext, 'jobId' | 'attempt' | 'queue' | 'env' | 'params' | 'item' | 'parents'>;
}

export type ThreadEvent =
  | { type: 'log'; line: string }
  | { type: 'progress'; fraction: number; text?: string }
  | { type: 'checkpoint'; call: number; value: unknown }
  | { type: 'lastCheckpoint'; call: number }
  | { type: 'done'; value: unknown }
  | { type: 'failed'; error: ThreadError };

export type ThreadAnswer = { type: 'answer'; call: number; value?: unknown; error?: string };

export type ToIsolated = ThreadAnswer | { type: 'abort'; reason: { reason: string; message: string } };

export interface ThreadError {
  name: string;
  message: string;
  stack: string | undefined;
  delayMs: number | undefined;
}

export function toThread(error: unknown): ThreadError {
  if (!(error instanceof Error)) return { name: 'Error', message: String(error), stack: undefined, delayMs: undefined };
  const { name, message, stack } = error;
  return { name, message, stack, delayMs: (error as { delayMs?: number }).delayMs };
}

/** The same kind of error on this side. */
export function fromThread({ name, message, stack, delayMs = 0 }: ThreadError): Error {
  const error = again(name, message, delayMs);
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
