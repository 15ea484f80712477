/** Every promise of `Store` as tests for `node --test`: a store of one's own proves itself here, and is then given to `open`. */

export type * from '../src/store/store.ts';
export type { Effort } from './effort.ts';
export { exerciseStore } from './exercise-store.ts';
export { openTestMemory } from './kit/memory.ts';
export type { OpenStore, TestStore } from './kit/store.ts';
