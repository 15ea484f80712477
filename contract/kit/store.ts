import { test } from 'node:test';
import type { Store } from '../../src/store/store.ts';

/** A store for one test, empty, with a clock that the test moves. Disposing it leaves nothing behind. */
export interface TestStore extends AsyncDisposable {
  store: Store;
  /** Moves the store's clock on. */
  advance(ms: number): Promise<void>;
}

export type OpenStore = () => Promise<TestStore>;
export type Advance = (ms: number) => Promise<void>;

/** `test`, where each test has a store of its own. */
export function withStore(open: OpenStore) {
  return (promise: string, body: (given: { store: Store; advance: Advance }) => Promise<void>): void => {
    // The runner collects what `test` answers with.
    void test(promise, async () => {
      await using opened = await open();
      await body({ store: opened.store, advance: (ms) => opened.advance(ms) });
    });
  };
}
