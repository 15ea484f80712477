/** A store for one test, as the contract suite has it. */

export * from '../../src/testing/kit/store.ts';
