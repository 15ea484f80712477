/** The clock of the contract suite. */

export * from '../../src/testing/kit/clock.ts';
