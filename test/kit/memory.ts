/** The store that is the specification. */

export * from '../../src/testing/kit/memory.ts';
