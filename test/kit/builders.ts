/** Plain things to test with: those of the contract suite. */

export * from '../../src/testing/kit/builders.ts';
