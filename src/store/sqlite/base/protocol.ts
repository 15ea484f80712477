/** The messages between the calling side and a thread. */

import type { MessagePort, Worker } from 'node:worker_threads';
import type { Fence } from '../../../core/leadership.ts';
import type { Changed } from '../../hint.ts';
import type { Context } from './context.ts';
import type { Failure } from './failure.ts';

/** What a thread can be asked for, by name. */
export type Methods = Record<string, (context: Context, ...args: never[]) => unknown>;

/** The arguments of a call, without the context that the thread adds. */
export type Args<M extends Methods, K extends keyof M> = Parameters<M[K]> extends [unknown, ...infer Sent] ? Sent : [];

export interface Request {
  id: number;
  method: string;
  now: number;
  args: readonly unknown[];
  /** Of a leader: where its term is over, nothing is done. */
  fence?: Fence;
}

export interface Answer {
  id: number;
  value?: unknown;
  failure?: Failure;
  changed?: Changed;
}

export type ToThread = Request | 'close';

/** `ready` or a failure comes first, `closed` last. */
export type FromThread = { ready: true } | { failed: Failure } | { answers: Answer[] } | { closed: true };

/** Everything is copied but what is handed over: that is the other side's from then on. */
export function send(
  port: Pick<MessagePort, 'postMessage'> | Worker,
  message: ToThread | FromThread,
  handedOver: readonly ArrayBuffer[] = [],
): void {
  port.postMessage(message, [...handedOver]);
}
