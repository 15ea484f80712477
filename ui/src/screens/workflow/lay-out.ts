/** The layout of a workflow's graph, from left to right. */

import { Graph, layout } from '@dagrejs/dagre';
import type { StepState } from '../../../../src/api/workflow/workflow.ts';

export const NODE_WIDTH = 178;
export const NODE_HEIGHT = 48;

export interface Laid {
  width: number;
  height: number;
  /** The upper left corner of each step, by key. */
  nodes: ReadonlyMap<string, { x: number; y: number }>;
  edges: readonly { from: string; to: string; path: string }[];
}

export function layOut(steps: readonly Pick<StepState, 'key' | 'depends_on'>[]): Laid {
  const graph = new Graph();
  graph.setGraph({ rankdir: 'LR', nodesep: 18, ranksep: 52, marginx: 16, marginy: 16 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const { key } of steps) graph.setNode(key, { width: NODE_WIDTH, height: NODE_HEIGHT });
  for (const { key, depends_on } of steps) for (const parent of depends_on) graph.setEdge(parent, key);
  layout(graph);
  const { width = 0, height = 0 } = graph.graph();
  const nodes = new Map(
    steps.map(({ key }) => {
      const { x, y } = graph.node(key);
      return [key, { x: x - NODE_WIDTH / 2, y: y - NODE_HEIGHT / 2 }];
    }),
  );
  const edges = graph.edges().map(({ v, w }) => ({ from: v, to: w, path: curve(nodes.get(v), nodes.get(w)) }));
  return { width, height, nodes, edges };
}

function curve(from: { x: number; y: number } | undefined, to: { x: number; y: number } | undefined): string {
  if (from === undefined || to === undefined) return '';
  const start = { x: from.x + NODE_WIDTH, y: from.y + NODE_HEIGHT / 2 };
  const end = { x: to.x, y: to.y + NODE_HEIGHT / 2 };
  const bend = Math.max(24, (end.x - start.x) / 2);
  return `M${start.x} ${start.y} C${start.x + bend} ${start.y} ${end.x - bend} ${end.y} ${end.x} ${end.y}`;
}
