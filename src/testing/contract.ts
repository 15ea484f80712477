/** Every promise of `Store` as tests for `node --test`: a store of one's own proves itself here, and is then given to `open`. */

export type * from '../store/store.ts';
export type { Effort } from './contract/effort.ts';
export { exerciseStore } from './contract/index.ts';
export { openTestMemory } from './kit/memory.ts';
export type { OpenStore, TestStore } from './kit/store.ts';
