/** Assigns columns to the vertices of a layered graph: near their neighbours, without overlaps. */

import { type Layers, mean, type Vertex } from './layers.ts';

const GAP = 2;
const SWEEPS = 8;

/** The column of each vertex's middle. `widthOf` is odd. */
export function columnsOf({ vertices, layers }: Layers, widthOf: (vertex: number) => number): number[] {
  const columns: number[] = vertices.map(() => 0);
  const apart = (left: number, right: number): number => (widthOf(left) + widthOf(right)) / 2 + GAP;
  for (let sweep = 0; sweep <= SWEEPS; sweep += 1) {
    const side = sweep % 2 === 0 ? 'above' : 'below';
    for (const layer of side === 'above' ? layers : layers.toReversed()) {
      const wishes = layer.map(
        (vertex) =>
          mean((vertices[vertex] as Vertex)[side].map((each) => columns[each] as number)) ??
          (columns[vertex] as number),
      );
      spread(layer, wishes, apart).forEach((column, index) => (columns[layer[index] as number] = column));
    }
  }
  dodge({ vertices, layers }, onGrid(layers, columns, apart));
  const edge = Math.min(...columns.map((column, vertex) => column - (widthOf(vertex) - 1) / 2));
  return columns.map((column) => column - edge);
}

/** Returns the columns nearest to the wanted ones that keep their distance. Vertices that are too close move as one block. */
function spread(
  layer: readonly number[],
  wishes: readonly number[],
  apart: (left: number, right: number) => number,
): number[] {
  const offsets: number[] = [];
  layer.forEach((vertex, index) => {
    offsets.push(index === 0 ? 0 : (offsets[index - 1] as number) + apart(layer[index - 1] as number, vertex));
  });
  const blocks: { sum: number; count: number }[] = [];
  const level = ({ sum, count }: { sum: number; count: number }): number => sum / count;
  wishes.forEach((wish, index) => {
    let block = { sum: wish - (offsets[index] as number), count: 1 };
    for (let last = blocks.at(-1); last !== undefined && level(last) >= level(block); last = blocks.at(-1)) {
      blocks.pop();
      block = { sum: last.sum + block.sum, count: last.count + block.count };
    }
    blocks.push(block);
  });
  const levels = blocks.flatMap((block) => Array.from({ length: block.count }, () => level(block)));
  return offsets.map((offset, index) => offset + (levels[index] as number));
}

/** Whole columns. */
function onGrid(
  layers: readonly (readonly number[])[],
  columns: number[],
  apart: (left: number, right: number) => number,
): number[] {
  for (const layer of layers) {
    layer.forEach((vertex, index) => {
      const left = layer[index - 1];
      const wish = Math.round(columns[vertex] as number);
      columns[vertex] =
        left === undefined ? wish : Math.max(wish, Math.ceil((columns[left] as number) + apart(left, vertex)));
    });
  }
  return columns;
}

/** Moves passing edges out of columns that another line comes down in, as two lines that swap columns look the same. */
function dodge({ vertices, layers }: Layers, columns: number[]): void {
  layers.forEach((layer, index) => {
    const above = (layers[index - 1] ?? []).filter((vertex) => (vertices[vertex] as Vertex).below.length > 0);
    for (const vertex of layer) {
      const { node, above: own } = vertices[vertex] as Vertex;
      if (node !== null) continue;
      const taken = new Set(above.filter((each) => !own.includes(each)).map((each) => columns[each]));
      const column = columns[vertex] as number;
      columns[vertex] = [column, column + 1, column - 1].find((each) => !taken.has(each)) ?? column;
    }
  });
}
