/** The layout of a workflow's graph: downwards if it is deeper than wide, else from left to right. */

import { Graph, layout } from '@dagrejs/dagre';
import type { StepState } from '../../../../src/api/workflow/workflow.ts';

export const NODE_WIDTH = 178;
export const NODE_HEIGHT = 48;

export type Direction = 'LR' | 'TB';

interface Point {
  x: number;
  y: number;
}

export interface Laid {
  width: number;
  height: number;
  /** The upper left corner of each step, by key. */
  nodes: ReadonlyMap<string, Point>;
  edges: readonly { from: string; to: string; path: string }[];
}

type Steps = readonly Pick<StepState, 'key' | 'depends_on'>[];

/** The direction in which more of the graph is visible in a window of this shape. */
export function directionFor(steps: Steps, window: { width: number; height: number }): Direction {
  const shown = (direction: Direction): number => {
    const { width, height } = layOut(steps, direction);
    return Math.min(1, window.width / width) * Math.min(1, window.height / height);
  };
  return shown('TB') > shown('LR') ? 'TB' : 'LR';
}

export function layOut(steps: Steps, direction: Direction): Laid {
  const graph = new Graph();
  graph.setGraph({ rankdir: direction, nodesep: 20, ranksep: direction === 'LR' ? 56 : 44, marginx: 16, marginy: 16 });
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
  const edges = graph.edges().map(({ v, w }) => {
    const { points = [] } = graph.edge(v, w) as { points?: Point[] };
    return { from: v, to: w, path: pathThrough(ends(nodes.get(v), nodes.get(w), points, direction), direction) };
  });
  return { width, height, nodes, edges };
}

/** The points of an edge. The layout leads long edges around the steps between; they start and end in the middle of a side. */
function ends(from: Point | undefined, to: Point | undefined, points: readonly Point[], direction: Direction): Point[] {
  if (from === undefined || to === undefined) return [];
  const start =
    direction === 'LR'
      ? { x: from.x + NODE_WIDTH, y: from.y + NODE_HEIGHT / 2 }
      : { x: from.x + NODE_WIDTH / 2, y: from.y + NODE_HEIGHT };
  const end = direction === 'LR' ? { x: to.x, y: to.y + NODE_HEIGHT / 2 } : { x: to.x + NODE_WIDTH / 2, y: to.y };
  return [start, ...points.slice(1, -1), end];
}

/** A smooth line that leaves and enters each point in the direction of the graph. */
function pathThrough(points: readonly Point[], direction: Direction): string {
  const [first, ...rest] = points;
  if (first === undefined) return '';
  let path = `M${first.x} ${first.y}`;
  let before = first;
  for (const point of rest) {
    const middle = { x: (before.x + point.x) / 2, y: (before.y + point.y) / 2 };
    path +=
      direction === 'LR'
        ? ` C${middle.x} ${before.y} ${middle.x} ${point.y} ${point.x} ${point.y}`
        : ` C${before.x} ${middle.y} ${point.x} ${middle.y} ${point.x} ${point.y}`;
    before = point;
  }
  return path;
}
