import type { Store } from '../../src/store/store.ts';

/** A store for one test, empty, with a clock that the test moves. Disposing it leaves nothing behind. */
export interface TestStore extends AsyncDisposable {
  store: Store;
  /** Moves the store's clock on. */
  advance(ms: number): Promise<void>;
}

export type OpenStore = () => Promise<TestStore>;
