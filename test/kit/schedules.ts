/** Schedules in the words of the contract suite. */

export * from '../../contract/kit/schedules.ts';
