/** The clock of the contract suite. */

export * from '../../contract/kit/clock.ts';
