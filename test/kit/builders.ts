/** Plain things to test with: those of the contract suite. */

export * from '../../contract/kit/builders.ts';
