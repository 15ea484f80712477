/** What happens to jobs, in the words of the contract suite. */

export * from '../../contract/kit/steps.ts';
