/** Graphs in the words of the contract suite. */

export * from '../../src/testing/kit/graph.ts';
