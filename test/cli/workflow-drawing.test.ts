/** Drawings of graphs, read back: whoever follows the lines finds the edges of the graph and no others. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { drawGraph, type GraphBox } from '../../src/cli/output/graph/draw-graph.ts';
import { effort } from '../effort.ts';
import { dagPlan } from '../kit/dag-plans.ts';

type Direction = 'up' | 'right' | 'down' | 'left';

const MOVES: Readonly<Record<Direction, readonly [row: number, column: number]>> = {
  up: [-1, 0],
  right: [0, 1],
  down: [1, 0],
  left: [0, -1],
};
const OPPOSITE: Readonly<Record<Direction, Direction>> = { up: 'down', right: 'left', down: 'up', left: 'right' };
const EXITS: Readonly<Record<string, readonly Direction[]>> = {
  '│': ['up', 'down'],
  '─': ['left', 'right'],
  '┌': ['right', 'down'],
  '┐': ['left', 'down'],
  '└': ['up', 'right'],
  '┘': ['up', 'left'],
  '├': ['up', 'right', 'down'],
  '┤': ['up', 'left', 'down'],
  '┬': ['left', 'right', 'down'],
  '┴': ['left', 'right', 'up'],
  '┼': ['up', 'right', 'down', 'left'],
};

/** All edges that the lines of a drawing show, as `parent>child`. */
function edgesIn(drawing: string, keys: readonly string[]): Set<string> {
  const rows = drawing.split('\n').map((line) => line.split(''));
  const at = (row: number, column: number): string => rows[row]?.[column] ?? ' ';
  const edges = new Set<string>();
  for (const key of keys) {
    const row = rows.findIndex((line) => line.join('').includes(` ${key} `));
    const text = (rows[row] as string[]).join('').indexOf(` ${key} `) + 1;
    const left = (rows[row] as string[]).slice(0, text).lastIndexOf('│');
    const right = (rows[row] as string[]).indexOf('│', text);
    let bottom = row;
    while (at(bottom, left) !== '└') bottom += 1;
    for (let column = left + 1; column < right; column += 1) {
      if (at(bottom, column) !== '┬') continue;
      for (const child of follow(at, bottom + 1, column)) edges.add(`${key}>${child}`);
    }
  }
  return edges;

  function follow(at: (row: number, column: number) => string, row: number, column: number): string[] {
    const found: string[] = [];
    const seen = new Set<string>();
    const ways: [number, number, Direction][] = [[row, column, 'down']];
    for (const [r, c, heading] of ways) {
      const cell = at(r, c);
      const mark = `${r}/${c}/${heading}`;
      if (seen.has(mark)) continue;
      seen.add(mark);
      if (cell === '▼') {
        found.push(boxBelow(r + 2, c));
        continue;
      }
      const exits = EXITS[cell] ?? [];
      // A line that meets one across it, without a corner, goes on behind it.
      const passes = !exits.includes(OPPOSITE[heading]) && cell === '│';
      for (const exit of passes ? [heading] : exits.filter((each) => each !== OPPOSITE[heading])) {
        const [dr, dc] = MOVES[exit];
        ways.push([r + dr, c + dc, exit]);
      }
    }
    return found;
  }

  function boxBelow(row: number, column: number): string {
    const line = (rows[row] as string[]).join('');
    const left = line.lastIndexOf('│', column);
    const right = line.indexOf('│', column);
    return line.slice(left + 1, right).trim();
  }
}

test('drawing: following its lines gives the edges of the graph, and no others', () => {
  fc.assert(
    fc.property(dagPlan(14), fc.nat(8), (plan, length) => {
      const key = (place: number): string => `n${place}${'x'.repeat((place * length) % 9)}`;
      const boxes: GraphBox[] = plan.map(({ parents }, place) => ({
        key: key(place),
        dependsOn: parents.map(({ node }) => key(node)),
        lines: [key(place), ...(place % 3 === 0 ? ['note'] : [])],
      }));
      const drawing = drawGraph(boxes, { ascii: false, width: 1_000 });
      assert.ok(drawing !== undefined);
      const expected = new Set(boxes.flatMap((box) => box.dependsOn.map((parent) => `${parent}>${box.key}`)));
      assert.deepEqual(
        [
          ...edgesIn(
            drawing,
            boxes.map((box) => box.key),
          ),
        ].sort(),
        [...expected].sort(),
        `\n${drawing}`,
      );
    }),
    { numRuns: effort.dagRuns },
  );
});

test('drawing: plain characters have the same shape', () => {
  const boxes = ['a', 'b', 'c', 'd'].map((key, place, all) => ({ key, dependsOn: all.slice(0, place), lines: [key] }));
  const [plain, drawn] = [true, false].map((ascii) => drawGraph(boxes, { ascii, width: 80 })) as [string, string];
  assert.equal(
    drawn
      .replace(/[┌┐└┘├┤┬┴┼]/g, '+')
      .replaceAll('│', '|')
      .replaceAll('─', '-')
      .replaceAll('▼', 'v'),
    plain,
  );
});

test('drawing: none that is wider than the terminal', () => {
  const boxes = Array.from({ length: 12 }, (_, place) => ({ key: `n${place}`, dependsOn: [], lines: [`n${place}`] }));
  assert.equal(drawGraph(boxes, { ascii: false, width: 60 }), undefined);
  const drawing = drawGraph(boxes, { ascii: false, width: 110 }) as string;
  assert.ok(drawing.split('\n').every((line) => line.length <= 110));
});
