/** A store for one test, as the contract suite has it. */

export * from '../../contract/kit/store.ts';
