/** Draws a graph with boxes and lines as text, parents above children. */

import { orderGraph } from '../../../core/dag/order.ts';
import { displayWidth } from '../table.ts';
import { Canvas } from './canvas.ts';
import { columnsOf } from './columns.ts';
import { type Layers, layersOf, type Vertex } from './layers.ts';
import { type Arrival, type Net, route, spanOf } from './routes.ts';

export interface GraphBox {
  key: string;
  dependsOn: readonly string[];
  /** The text of the box. */
  lines: readonly string[];
}

interface DrawOptions {
  ascii: boolean;
  /** The maximum width. */
  width: number;
}

/** Larger graphs make no readable picture. */
const MAX_BOXES = 200;

/** Returns the drawing, or `undefined` if it would be too wide. The graph must have no cycles. */
export function drawGraph(boxes: readonly GraphBox[], { ascii, width }: DrawOptions): string | undefined {
  if (boxes.length > MAX_BOXES) return undefined;
  const places = new Map(boxes.map(({ key }, place) => [key, place]));
  const parents = boxes.map(({ dependsOn }) => dependsOn.map((key) => places.get(key) as number));
  const graph = layersOf(parents, orderGraph(boxes).order);
  const widths = graph.vertices.map((vertex) => widthOf(vertex, boxes));
  const columns = columnsOf(graph, (vertex) => widths[vertex] as number);
  const right = Math.max(...columns.map((column, vertex) => column + ((widths[vertex] as number) - 1) / 2));
  if (right >= width) return undefined;
  return paint({ boxes, graph, widths, columns }, new Canvas(ascii));
}

/** Odd, so that there is a middle column. Fits the text, and one column per arriving line. */
function widthOf({ node, above }: Vertex, boxes: readonly GraphBox[]): number {
  if (node === null) return 1;
  const text = Math.max(...(boxes[node] as GraphBox).lines.map((line) => displayWidth(line))) + 4;
  const width = Math.max(text, 2 * above.length + 1);
  return width % 2 === 0 ? width + 1 : width;
}

interface Picture {
  boxes: readonly GraphBox[];
  graph: Layers;
  widths: readonly number[];
  columns: readonly number[];
}

function paint(picture: Picture, canvas: Canvas): string {
  const { vertices, layers } = picture.graph;
  let top = 0;
  for (const layer of layers) {
    const nets = new Map<number, Net>();
    for (const vertex of layer) {
      if ((vertices[vertex] as Vertex).below.length > 0)
        nets.set(vertex, { source: picture.columns[vertex] as number, targets: [], track: null });
    }
    const bottom = top + Math.max(...layer.map((vertex) => heightOf(picture, vertex))) - 1;
    const below = layers[(vertices[layer[0] as number] as Vertex).layer + 1] ?? [];
    const tracks = route(
      [...nets.values()],
      below.map((vertex) => arrivalOf(picture, vertex, nets)),
    );
    for (const vertex of layer) paintVertex(picture, vertex, { canvas, top, bottom, net: nets.get(vertex) });
    for (const net of nets.values()) paintNet(net, { canvas, bottom, tracks });
    for (const vertex of below) {
      const { node, above } = vertices[vertex] as Vertex;
      if (node === null) continue;
      const [from, to] = edgesOf(picture, vertex);
      const arriving = above.flatMap((each) => nets.get(each)?.targets ?? []);
      for (const column of new Set(arriving))
        if (column > from && column < to) canvas.arrow(bottom + tracks + 1, column);
    }
    top = bottom + tracks + 2;
  }
  return canvas.toString();
}

function arrivalOf(picture: Picture, vertex: number, nets: ReadonlyMap<number, Net>): Arrival {
  const { node, above } = picture.graph.vertices[vertex] as Vertex;
  const [from, to] = edgesOf(picture, vertex);
  const arriving = above.flatMap((each) => nets.get(each) ?? []).sort((a, b) => a.source - b.source);
  return { nets: arriving, from: node === null ? from : from + 1, to: node === null ? to : to - 1 };
}

function edgesOf({ columns, widths }: Picture, vertex: number): [left: number, right: number] {
  const half = ((widths[vertex] as number) - 1) / 2;
  return [(columns[vertex] as number) - half, (columns[vertex] as number) + half];
}

function heightOf({ boxes, graph }: Picture, vertex: number): number {
  const { node } = graph.vertices[vertex] as Vertex;
  return node === null ? 1 : (boxes[node] as GraphBox).lines.length + 2;
}

interface Sheet {
  canvas: Canvas;
  top: number;
  /** The last row of the layer. */
  bottom: number;
  net: Net | undefined;
}

function paintVertex(picture: Picture, vertex: number, { canvas, top, bottom, net }: Sheet): void {
  const { node } = picture.graph.vertices[vertex] as Vertex;
  const column = picture.columns[vertex] as number;
  if (node === null) {
    // Also joins the line from above.
    canvas.vertical(column, top - 1, bottom + 1, net);
    return;
  }
  const [left, right] = edgesOf(picture, vertex);
  const end = top + heightOf(picture, vertex) - 1;
  const frame = net ?? {};
  canvas.horizontal(top, left, right, frame);
  canvas.horizontal(end, left, right, frame);
  canvas.vertical(left, top, end, frame);
  canvas.vertical(right, top, end, frame);
  (picture.boxes[node] as GraphBox).lines.forEach((line, index) => {
    const space = right - left - 1 - displayWidth(line);
    canvas.text(top + 1 + index, left + 1 + Math.floor(space / 2), line);
  });
  if (net !== undefined) canvas.vertical(column, end, bottom + 1, net);
}

function paintNet(net: Net, { canvas, bottom, tracks }: { canvas: Canvas; bottom: number; tracks: number }): void {
  const arrows = bottom + tracks + 1;
  if (net.track === null) {
    canvas.vertical(net.source, bottom, arrows, net);
    return;
  }
  const row = bottom + 1 + net.track;
  canvas.vertical(net.source, bottom, row, net);
  canvas.horizontal(row, ...spanOf(net), net);
  for (const target of net.targets) canvas.vertical(target, row, arrows, net);
}
