/** Schedules in the words of the contract suite. */

export * from '../../src/testing/kit/schedules.ts';
