/** The store that is the specification. */

export * from '../../contract/kit/memory.ts';
