import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { cycleText, type GraphNode, orderGraph } from '../../src/core/dag/order.ts';
import { effort } from '../effort.ts';
import { dagPlan } from '../kit/dag-plans.ts';

const node = (key: string, ...dependsOn: string[]): GraphNode => ({ key, dependsOn });

test('order: parents come first, otherwise the order given is kept', () => {
  const { order, problems } = orderGraph([node('c', 'a', 'b'), node('b', 'a'), node('x'), node('a')]);
  assert.deepEqual(order, [2, 3, 1, 0]);
  assert.deepEqual(problems, []);
});

test('order: unknown, own, repeated and duplicate keys are reported with their places', () => {
  const { problems } = orderGraph([node('a', 'a'), node('b', 'a', 'nope', 'a'), node('a')]);
  assert.deepEqual(problems, [
    { kind: 'duplicate', node: 2, first: 0 },
    { kind: 'self', node: 0, edge: 0 },
    { kind: 'unknown', node: 1, edge: 1 },
    { kind: 'repeated', node: 1, edge: 2 },
  ]);
});

test('order: only the path of a cycle is reported; nodes below it are not part of it', () => {
  const { order, problems } = orderGraph([
    node('below', 'c'),
    node('root'),
    node('a', 'c', 'root'),
    node('b', 'a'),
    node('c', 'b', 'root'),
  ]);
  assert.deepEqual(order, [1]);
  assert.equal(problems.length, 1);
  const [problem] = problems;
  assert.ok(problem?.kind === 'cycle');
  assert.deepEqual(problem.path, [4, 2, 3, 4]);
});

test('order: a long path is shortened for reading', () => {
  assert.equal(cycleText(['a', 'b', 'a']), 'a -> b -> a');
  const keys = Array.from({ length: 100 }, (_, place) => `n${place}`);
  assert.equal(cycleText(keys), 'n0 -> n1 -> n2 -> n3 -> n4 -> n5 -> (89 more) -> n95 -> n96 -> n97 -> n98 -> n99');
});

test('order: a chain of 100,000, a star of 100,000 and a cycle through 100,000 neither overflow nor miss a node', () => {
  const many = 100_000;
  const chain = Array.from({ length: many }, (_, place) =>
    node(`n${place}`, ...(place === 0 ? [] : [`n${place - 1}`])),
  );
  assert.equal(orderGraph(chain.toReversed()).order.length, many);
  const star = [node('hub'), ...Array.from({ length: many - 2 }, (_, place) => node(`n${place}`, 'hub'))];
  star.push(node('end', ...star.map(({ key }) => key)));
  assert.equal(orderGraph(star).order.length, many);
  const ring = [node('n0', `n${many - 1}`), ...chain.slice(1)];
  const { order, problems } = orderGraph(ring);
  assert.equal(order.length, 0);
  assert.ok(problems[0]?.kind === 'cycle' && problems[0].path.length === many + 1);
});

test('order: any graph without cycles is ordered whole; one edge back from a descendant is found as a real cycle', () => {
  fc.assert(
    fc.property(dagPlan(100), fc.nat(), (plan, choice) => {
      const nodes = plan.map(({ parents }, place) => node(`n${place}`, ...parents.map((edge) => `n${edge.node}`)));
      const { order, problems } = orderGraph(nodes);
      assert.deepEqual(problems, []);
      const position = new Map(order.map((place, index) => [`n${place}`, index]));
      assert.equal(position.size, nodes.length);
      for (const { key, dependsOn } of nodes) {
        for (const parent of dependsOn) assert.ok((position.get(parent) as number) < (position.get(key) as number));
      }
      const withParents = nodes.filter(({ dependsOn }) => dependsOn.length > 0);
      if (withParents.length === 0) return;
      const child = withParents[choice % withParents.length] as GraphNode;
      const parent = child.dependsOn[0] as string;
      const bent = nodes.map((each) => (each.key === parent ? node(parent, ...each.dependsOn, child.key) : each));
      const cycle = orderGraph(bent).problems.find(({ kind }) => kind === 'cycle');
      assert.ok(cycle?.kind === 'cycle');
      assert.equal(cycle.path[0], cycle.path.at(-1));
      cycle.path.slice(1).forEach((place, index) => {
        assert.ok(bent[place]?.dependsOn.includes(`n${cycle.path[index]}`));
      });
    }),
    { numRuns: effort.dagRuns },
  );
});
