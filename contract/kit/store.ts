import { test } from 'node:test';
import type { Store } from '../../src/store/store.ts';

/** An empty store for one test, with a clock that the test advances. Disposing it removes all its data. */
export interface TestStore extends AsyncDisposable {
  store: Store;
  /** Advances the store's clock. */
  advance(ms: number): Promise<void>;
}

export type OpenStore = () => Promise<TestStore>;
export type Advance = (ms: number) => Promise<void>;

/** Returns a `test` function that opens a new store for each test. */
export function withStore(open: OpenStore) {
  return (promise: string, body: (given: { store: Store; advance: Advance }) => Promise<void>): void => {
    // The test runner awaits the promise that `test` returns.
    void test(promise, async () => {
      await using opened = await open();
      await body({ store: opened.store, advance: (ms) => opened.advance(ms) });
    });
  };
}
