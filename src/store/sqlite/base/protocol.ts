/** The messages between the calling side and a thread. */

import type { MessagePort, Worker } from 'node:worker_threads';
import type { TermFence } from '../../../core/leadership.ts';
import type { Announcement } from '../../hint.ts';
import type { Context } from './context.ts';
import type { Failure } from './failure.ts';

/** The methods of a thread, by name. */
export type Methods = Record<string, (context: Context, ...args: never[]) => unknown>;

/** The arguments of a call, without the context that the thread adds. */
export type Args<M extends Methods, K extends keyof M> = Parameters<M[K]> extends [unknown, ...infer Sent] ? Sent : [];

export interface ThreadRequest {
  id: number;
  method: string;
  now: number;
  args: readonly unknown[];
  /** A leader's call: does nothing if the term is over. */
  fence?: TermFence;
}

export interface ThreadAnswer {
  id: number;
  value?: unknown;
  failure?: Failure;
  changed?: Announcement;
}

export type ToThread = ThreadRequest | 'close';

/** `ready` or a failure comes first, `closed` last. */
export type FromThread = { ready: true } | { failed: Failure } | { answers: ThreadAnswer[] } | { closed: true };

/** Copies the message to the other side. Buffers in `handedOver` are transferred and can no longer be used here. */
export function send(
  port: Pick<MessagePort, 'postMessage'> | Worker,
  message: ToThread | FromThread,
  handedOver: readonly ArrayBuffer[] = [],
): void {
  port.postMessage(message, [...handedOver]);
}
