/** Checks that named nodes and their dependencies form a graph without cycles, and orders it topologically. */

import { IntList } from '../int-list.ts';

export interface GraphNode {
  key: string;
  dependsOn: readonly string[];
}

/** A mistake in a graph. `node` and `edge` are indexes in the given lists. */
export type GraphProblem =
  | { kind: 'duplicate'; node: number; first: number }
  | { kind: 'unknown' | 'self' | 'repeated'; node: number; edge: number }
  /** Each node of the path is a parent of the next; the last is the first again. */
  | { kind: 'cycle'; path: number[] };

interface GraphOrder<Places = number[]> {
  /** Indexes of nodes, parents before children, otherwise as they were given. Nodes in or below a cycle are missing. */
  order: Places;
  problems: GraphProblem[];
}

/** Takes time and space in proportion to nodes and edges; any depth. Reports one cycle, and all other problems. */
export function orderGraph(nodes: readonly GraphNode[]): GraphOrder {
  const graph = new Graph();
  for (const { key, dependsOn } of nodes) graph.add(key, dependsOn);
  const { order, problems } = graph.order();
  return { order: [...order], problems };
}

/** Formats a path as `a -> b -> a`; a long one is shortened in the middle. */
export function cycleText(keys: readonly string[]): string {
  const shown =
    keys.length <= 12 ? keys : [...keys.slice(0, 6), `(${keys.length - 11} more)`, ...keys.slice(keys.length - 5)];
  return shown.join(' -> ');
}

/** A graph that is built node by node in little memory: each name once, and a number for each node and edge. */
export class Graph {
  readonly #numbers = new Map<string, number>();
  readonly #names: string[] = [];
  /** By the number of a key: the first node with this key; -1 if there is none. */
  readonly #nodes = new IntList();
  /** By node: the number of its key. */
  readonly #keys = new IntList();
  /** By edge, node after node: the number of the given name. */
  readonly #edges = new IntList();
  /** By node: the index after its last edge. */
  readonly #ends = new IntList();

  add(key: string, dependsOn: readonly string[]): void {
    const number = this.#numberOf(key);
    if (this.#nodes.at(number) === -1) this.#nodes.set(number, this.length);
    this.#keys.push(number);
    for (const name of dependsOn) this.#edges.push(this.#numberOf(name));
    this.#ends.push(this.#edges.length);
  }

  get length(): number {
    return this.#keys.length;
  }

  keyOf(node: number): string {
    return this.#names[this.#keys.at(node)] as string;
  }

  /** Returns the node with this key, if there is one. */
  nodeOf(key: string): number | undefined {
    const number = this.#numbers.get(key);
    if (number === undefined || this.#nodes.at(number) === -1) return undefined;
    return this.#nodes.at(number);
  }

  /** Returns the name given for an edge. */
  nameOf(node: number, edge: number): string {
    return this.#names[this.#edges.at(this.#startOf(node) + edge)] as string;
  }

  /** Returns the node's parents, in the order given. The graph must have no problems. */
  parentsOf(node: number): number[] {
    const names = this.#edges.slice(this.#startOf(node), this.#ends.at(node));
    return Array.from(names, (number) => this.#nodes.at(number));
  }

  order(): GraphOrder<Int32Array> {
    const problems: GraphProblem[] = [];
    const parents = this.#resolve(problems);
    const missing = new Int32Array(this.length);
    for (let node = 0; node < missing.length; node += 1) missing[node] = countOf(parents, node);
    const order = takeFreeNodes(turned(parents), missing);
    if (order.length < this.length) problems.push({ kind: 'cycle', path: findCycle(parents, missing) });
    return { order, problems };
  }

  #startOf(node: number): number {
    return node === 0 ? 0 : this.#ends.at(node - 1);
  }

  #numberOf(name: string): number {
    let number = this.#numbers.get(name);
    if (number === undefined) {
      number = this.#names.length;
      this.#numbers.set(name, number);
      this.#names.push(name);
      this.#nodes.push(-1);
    }
    return number;
  }

  /** Returns the parents of each node, once each. A name of no other node is a problem, and left out. */
  #resolve(problems: GraphProblem[]): Edges {
    for (let node = 0; node < this.length; node += 1) {
      const first = this.#nodes.at(this.#keys.at(node));
      if (first !== node) problems.push({ kind: 'duplicate', node, first });
    }
    const parents: Edges = { starts: new Int32Array(this.length + 1), ends: new Int32Array(this.#edges.length) };
    const lastChild = new Int32Array(this.length).fill(-1);
    let found = 0;
    for (let node = 0; node < this.length; node += 1) {
      const from = this.#startOf(node);
      for (let at = from; at < this.#ends.at(node); at += 1) {
        const number = this.#edges.at(at);
        const parent = this.#nodes.at(number);
        const edge = at - from;
        if (number === this.#keys.at(node)) problems.push({ kind: 'self', node, edge });
        else if (parent === -1) problems.push({ kind: 'unknown', node, edge });
        else if (lastChild[parent] === node) problems.push({ kind: 'repeated', node, edge });
        else {
          lastChild[parent] = node;
          parents.ends[found] = parent;
          found += 1;
        }
      }
      parents.starts[node + 1] = found;
    }
    return parents;
  }
}

/** The edges of all nodes: where those of each node start, and their targets. Targets after the last start are unused. */
interface Edges {
  starts: Int32Array;
  ends: Int32Array;
}

function countOf({ starts }: Edges, node: number): number {
  return (starts[node + 1] as number) - (starts[node] as number);
}

/** Returns the same edges in the other direction, in order. */
function turned({ starts, ends }: Edges): Edges {
  const nodes = starts.length - 1;
  const back: Edges = { starts: new Int32Array(nodes + 1), ends: new Int32Array(ends.length) };
  const used = starts[nodes] as number;
  for (let at = 0; at < used; at += 1) (back.starts[(ends[at] as number) + 1] as number) += 1;
  for (let node = 0; node < nodes; node += 1) (back.starts[node + 1] as number) += back.starts[node] as number;
  const next = back.starts.slice();
  for (let node = 0; node < nodes; node += 1) {
    for (let at = starts[node] as number; at < (starts[node + 1] as number); at += 1) {
      const end = ends[at] as number;
      back.ends[next[end] as number] = node;
      (next[end] as number) += 1;
    }
  }
  return back;
}

/** Takes nodes whose parents are all taken, until none is left; `missing` holds the number of parents not taken, by node. */
function takeFreeNodes({ starts, ends }: Edges, missing: Int32Array): Int32Array {
  const order = new Int32Array(missing.length);
  let taken = 0;
  const take = (node: number): void => {
    order[taken] = node;
    taken += 1;
  };
  missing.forEach((count, node) => {
    if (count === 0) take(node);
  });
  // The list grows while it is walked.
  for (let place = 0; place < taken; place += 1) {
    const node = order[place] as number;
    for (let at = starts[node] as number; at < (starts[node + 1] as number); at += 1) {
      const child = ends[at] as number;
      const left = (missing[child] as number) - 1;
      missing[child] = left;
      if (left === 0) take(child);
    }
  }
  return order.subarray(0, taken);
}

/** A node that was not taken has a parent that was not taken: going up must reach a node twice. */
function findCycle({ starts, ends }: Edges, missing: Int32Array): number[] {
  const lacks = (node: number): boolean => (missing[node] as number) > 0;
  const seenAt = new Map<number, number>();
  const path: number[] = [];
  let node = missing.findIndex((count) => count > 0);
  while (!seenAt.has(node)) {
    seenAt.set(node, path.length);
    path.push(node);
    node = ends.subarray(starts[node], starts[node + 1]).find(lacks) as number;
  }
  return [...path.slice(seenAt.get(node)), node].reverse();
}
