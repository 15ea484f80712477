import { openMemory } from '../../src/store/memory/open.ts';
import { VirtualClock } from './clock.ts';
import type { TestStore } from './store.ts';

export function openTestMemory(): Promise<TestStore> {
  const clock = new VirtualClock();
  const store = openMemory({ clock });
  return Promise.resolve({
    store,
    advance: (ms: number) => Promise.resolve(clock.advance(ms)),
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  });
}
