/**
 * The duty that finishes graph work: it propagates ends, inserts the items of groups, and adopts jobs that applications
 * inserted in their own transactions.
 */

import type { Loop } from '../../ops/loop.ts';
import type { Wake } from '../../ops/wake.ts';
import type { SchedulerContext } from '../context.ts';

const BATCH = 1_000;
/** Bounds how late work that a dead process left unfinished is noticed. */
const SHARED_POLL_MS = 750;
const EXCLUSIVE_POLL_MS = 5_000;

/** Runs until there is no work left; woken by a hint. */
export function grapher({ store }: SchedulerContext, wake: Wake): Loop & Disposable {
  const unsubscribe = store.subscribe((hint) => {
    if (hint.topic === 'graph') wake.fire();
  });
  return {
    name: 'grapher',
    everyMs: store.exclusive ? EXCLUSIVE_POLL_MS : SHARED_POLL_MS,
    wake,
    async tick(signal) {
      for (;;) {
        const due = await store.graphWork(signal);
        const adopted = due.adopt ? await store.adopt(BATCH, signal) : 0;
        const carried = due.cascade ? await store.cascade(BATCH, signal) : 0;
        const inserted = due.expand ? await store.expand(BATCH, signal) : 0;
        if (adopted + carried + inserted === 0 || signal.aborted) return undefined;
      }
    },
    [Symbol.dispose]: unsubscribe,
  };
}
