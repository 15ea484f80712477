/** Jobs spread over many fair keys or many queues. */

import type { Store } from '../../src/store/store.ts';
import { submitMany } from './drain.ts';

export interface Spread {
  title: string;
  max: number;
  few: number;
  many: number;
  submit: (store: Store, jobs: number, size: number) => Promise<void>;
}

export const SPREADS: readonly Spread[] = [
  {
    title: 'fair keys',
    max: 1.15,
    few: 1,
    many: 10_000,
    submit: (store, jobs, size) => submitMany(store, jobs, (place) => ({ fairKey: `key-${place % size}` })),
  },
  {
    title: 'queues',
    max: 1.5,
    few: 1,
    many: 1_000,
    submit: (store, jobs, size) => submitMany(store, jobs, (place) => ({ queue: `queue-${place % size}` })),
  },
];
