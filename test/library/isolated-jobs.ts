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
