/** Puts the nodes of a graph in layers. Edges that span several layers get a vertex in each layer they pass. */

export interface Vertex {
  /** The node drawn here; `null` if an edge passes. */
  node: number | null;
  layer: number;
  /** The connected vertices of the layers above and below. */
  above: number[];
  below: number[];
}

export interface Layers {
  vertices: Vertex[];
  /** Indexes of vertices, from left to right, from top to bottom. */
  layers: number[][];
}

const SWEEPS = 6;

/** `order` lists parents before children. */
export function layersOf(parents: readonly (readonly number[])[], order: readonly number[]): Layers {
  const vertices: Vertex[] = [];
  const place = (node: number | null, layer: number): number =>
    vertices.push({ node, layer, above: [], below: [] }) - 1;
  const vertexOf = new Map<number, number>();
  // All long edges of a node share their vertices.
  const passing = new Map<string, number>();
  for (const node of order) {
    const above = (parents[node] ?? []).map((parent) => vertexOf.get(parent) as number);
    const layer = 1 + Math.max(-1, ...above.map((vertex) => (vertices[vertex] as Vertex).layer));
    const own = place(node, layer);
    vertexOf.set(node, own);
    for (const parent of above) {
      let last = parent;
      for (let next = (vertices[parent] as Vertex).layer + 1; next < layer; next += 1) {
        const key = `${parent}/${next}`;
        const known = passing.get(key);
        const vertex = known ?? place(null, next);
        passing.set(key, vertex);
        if (known === undefined) join(vertices, last, vertex);
        last = vertex;
      }
      join(vertices, last, own);
    }
  }
  return { vertices, layers: untangled(vertices) };
}

function join(vertices: readonly Vertex[], above: number, below: number): void {
  (vertices[above] as Vertex).below.push(below);
  (vertices[below] as Vertex).above.push(above);
}

/** Orders each layer by the positions of its neighbours, downwards and upwards, so that few edges cross. */
function untangled(vertices: readonly Vertex[]): number[][] {
  const layers: number[][] = [];
  vertices.forEach(({ layer }, vertex) => {
    (layers[layer] ??= []).push(vertex);
  });
  const position = new Map<number, number>();
  const note = (layer: readonly number[]): void => layer.forEach((vertex, index) => position.set(vertex, index));
  layers.forEach(note);
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    const side = sweep % 2 === 0 ? 'above' : 'below';
    for (const layer of side === 'above' ? layers : layers.toReversed()) {
      const wish = new Map(
        layer.map((vertex) => [
          vertex,
          mean((vertices[vertex] as Vertex)[side].map((each) => position.get(each) as number)) ??
            (position.get(vertex) as number),
        ]),
      );
      layer.sort((a, b) => (wish.get(a) as number) - (wish.get(b) as number));
      note(layer);
    }
  }
  return layers;
}

export function mean(numbers: readonly number[]): number | undefined {
  return numbers.length === 0 ? undefined : numbers.reduce((sum, each) => sum + each, 0) / numbers.length;
}
