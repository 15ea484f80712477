/** Whether named nodes and their dependencies make a graph without cycles, and an order in which parents come first. */

export interface GraphNode {
  key: string;
  dependsOn: readonly string[];
}

/** What is wrong with a graph. `node` and `edge` are places in the lists given. */
export type GraphProblem =
  | { kind: 'duplicate'; node: number; first: number }
  | { kind: 'unknown' | 'self' | 'repeated'; node: number; edge: number }
  /** Each node of the path is a parent of the next; the last is the first again. */
  | { kind: 'cycle'; path: number[] };

export interface GraphOrder {
  /** Places of nodes, parents before children, otherwise as they were given. Nodes in or below a cycle are missing. */
  order: number[];
  problems: GraphProblem[];
}

/** Takes time and space in proportion to nodes and edges; any depth. Tells one cycle, and everything else that is wrong. */
export function orderGraph(nodes: readonly GraphNode[]): GraphOrder {
  const problems: GraphProblem[] = [];
  const parents = resolveParents(nodes, problems);
  const missing = Int32Array.from(parents, (list) => list.length);
  const order = takeFreeNodes(childrenOf(parents), missing);
  if (order.length < nodes.length) problems.push({ kind: 'cycle', path: findCycle(parents, missing) });
  return { order, problems };
}

/** A path for a sentence: `a -> b -> a`; a long one is shortened in the middle. */
export function cycleText(keys: readonly string[]): string {
  const shown =
    keys.length <= 12 ? keys : [...keys.slice(0, 6), `(${keys.length - 11} more)`, ...keys.slice(keys.length - 5)];
  return shown.join(' -> ');
}

/** The places of each node's parents, once each; whatever names no other node is a problem and left out. */
function resolveParents(nodes: readonly GraphNode[], problems: GraphProblem[]): number[][] {
  const places = new Map<string, number>();
  nodes.forEach(({ key }, node) => {
    const first = places.get(key);
    if (first === undefined) places.set(key, node);
    else problems.push({ kind: 'duplicate', node, first });
  });
  return nodes.map(({ key, dependsOn }, node) => {
    const found = new Set<number>();
    dependsOn.forEach((name, edge) => {
      const parent = places.get(name);
      if (name === key) problems.push({ kind: 'self', node, edge });
      else if (parent === undefined) problems.push({ kind: 'unknown', node, edge });
      else if (found.has(parent)) problems.push({ kind: 'repeated', node, edge });
      else found.add(parent);
    });
    return [...found];
  });
}

function childrenOf(parents: readonly (readonly number[])[]): number[][] {
  const children: number[][] = parents.map(() => []);
  parents.forEach((list, node) => {
    for (const parent of list) children[parent]?.push(node);
  });
  return children;
}

/** Takes nodes whose parents are all taken, until there is none; `missing` keeps how many parents the others lack. */
function takeFreeNodes(children: readonly (readonly number[])[], missing: Int32Array): number[] {
  const order: number[] = [];
  missing.forEach((count, node) => {
    if (count === 0) order.push(node);
  });
  // The list grows while it is walked.
  for (const node of order) {
    for (const child of children[node] as readonly number[]) {
      const left = (missing[child] as number) - 1;
      missing[child] = left;
      if (left === 0) order.push(child);
    }
  }
  return order;
}

/** A node that lacks a parent has one that lacks one too: going up must meet a node again. */
function findCycle(parents: readonly (readonly number[])[], missing: Int32Array): number[] {
  const lacks = (node: number): boolean => (missing[node] as number) > 0;
  const seenAt = new Map<number, number>();
  const path: number[] = [];
  let node = missing.findIndex((count) => count > 0);
  while (!seenAt.has(node)) {
    seenAt.set(node, path.length);
    path.push(node);
    node = (parents[node] as readonly number[]).find(lacks) as number;
  }
  return [...path.slice(seenAt.get(node)), node].reverse();
}
