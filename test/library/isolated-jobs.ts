/** Jobs that run in threads. */

import { threadId } from 'node:worker_threads';
import { z } from 'zod';
import { job, RetryAfter } from '../../src/index.ts';

export const inThread = job('in-thread', {
  isolate: true,
  input: z.object({ n: z.string().transform(Number) }),
  async run({ n }, { log, progress, checkpoint, lastCheckpoint, attempt }) {
    log(`attempt ${attempt}`);
    progress(0.5, 'half');
    const before = await lastCheckpoint<number>();
    await checkpoint(attempt);
    if (attempt === 1) throw new RetryAfter(1);
    return { n, before, isThread: threadId > 0 };
  },
});

/** Never gives its loop back. */
export const deaf = job('deaf', {
  isolate: true,
  run() {
    for (;;);
  },
});

export const listens = job('listens', {
  isolate: import.meta.url,
  run: (_: unknown, { signal, log }) =>
    new Promise((_resolve, reject) => {
      log('waiting');
      signal.addEventListener('abort', () => reject(signal.reason as Error));
    }),
});

export const child = job('child', { input: z.object({ n: z.number() }), run: ({ n }) => n * 2 });

/** Its second attempt submits the same again. */
export const parent = job('parent', {
  isolate: true,
  maxAttempts: 2,
  backoff: { type: 'none' },
  async run(_: unknown, { submit, attempt, checkpoint, lastCheckpoint }) {
    const first = await submit(child, { n: 1 }, { priority: 5, runAt: new Date(0) });
    const second = await submit(child, { n: 1 }, { dependsOn: [{ job: first, if: 'ended' }] });
    const third = await submit(child, { n: attempt }, { key: 'third' });
    const ids = [first.id, second.id, third.id];
    if (attempt === 1) {
      await checkpoint(ids);
      throw new Error('once more');
    }
    return {
      before: await lastCheckpoint<string[]>(),
      ids,
      deduplicated: third.deduplicated,
      result: await third.result(),
      priority: (await first.job()).priority,
    };
  },
});

/** What it is refused, in its own words. */
export const refused = job('refused', {
  isolate: true,
  async run(_: unknown, { submit }) {
    const wrong = { n: 'x' } as unknown as { n: number };
    const told = async (call: Promise<unknown>) => {
      try {
        return await call;
      } catch (error) {
        const { name, code, message } = error as Error & { code?: string };
        return { name, code, message };
      }
    };
    const never = await submit(child, { n: 1 }, { delay: '1h' });
    return [
      await told(submit(child, wrong)),
      await told(submit(child, { n: 1 }, { priority: 1e9 })),
      await told(never.ended({ timeout: 20 })),
      await told(never.cancel()),
      await told(never.result()),
    ];
  },
});

export const completes = job('completes', {
  isolate: true,
  run: (_: unknown, { complete }) => complete(async () => []),
});

/** Throws what has neither a class nor a text. */
/** Returns or throws what cannot cross to another thread as it is. */
export const odd = job('odd', {
  isolate: true,
  maxAttempts: 3,
  run: (how: 'bigint' | 'function' | 'errors'): unknown => {
    if (how === 'errors') throw new AggregateError([new TypeError('no answer')], 'all failed');
    return how === 'bigint' ? 1n : () => 1;
  },
});

export const throwsBare = job('throws-bare', {
  isolate: true,
  maxAttempts: 1,
  run(): void {
    throw Object.create(null);
  },
});
