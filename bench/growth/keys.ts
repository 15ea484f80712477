/** Jobs spread over many fair keys or many queues. */

import type { Store } from '../../src/store/store.ts';
import { noop } from '../scene.ts';

export interface Spread {
  title: string;
  most: number;
  sizes: readonly number[];
  submit: (store: Store, size: number) => Promise<void>;
}

const never = new AbortController().signal;

export function keysAndQueues(jobs: number): Spread[] {
  const spread =
    (more: (place: number, size: number) => Parameters<typeof noop>[0]): Spread['submit'] =>
    async (store, size) => {
      for (let sent = 0; sent < jobs; sent += 1_000) {
        const batch = Array.from({ length: Math.min(1_000, jobs - sent) }, (_, place) =>
          noop(more(sent + place, size)),
        );
        await store.insert(batch, {}, never);
      }
    };
  return [
    {
      title: 'fair keys',
      most: 1.15,
      sizes: [1, Math.min(10_000, jobs)],
      submit: spread((place, size) => ({ fairKey: `key-${place % size}` })),
    },
    {
      title: 'queues',
      most: 1.5,
      sizes: [1, 1_000],
      submit: spread((place, size) => ({ queue: `queue-${place % size}` })),
    },
  ];
}
