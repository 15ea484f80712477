/** What happens to jobs, in the words of the contract suite. */

export * from '../../src/testing/kit/steps.ts';
