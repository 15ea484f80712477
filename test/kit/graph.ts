/** Graphs in the words of the contract suite. */

export * from '../../contract/kit/graph.ts';
