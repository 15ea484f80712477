/** The rules of core/dag/propagate.ts against a rescan of the whole graph. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { CONDITIONS, type Condition, type EdgeState } from '../../src/core/dag/conditions.ts';
import { addCounters, type EdgeCounters, sumEdges } from '../../src/core/dag/edge-counters.ts';
import { type JudgeMode, judgeEdges } from '../../src/core/dag/judge.ts';
import { type ChildJob, cascadeModeOf, isRevival, parentFor, propagate } from '../../src/core/dag/propagate.ts';
import { isTerminal, type Status } from '../../src/core/job.ts';
import { effort } from '../effort.ts';
import { dagPlan, picker } from '../kit/dag-plans.ts';
import { DagReference, type End, type Fate, type Pick, type PlannedNode } from '../kit/dag-reference.ts';

interface Edge {
  parent: number;
  child: number;
  readonly condition: Condition;
  state: EdgeState;
}

class Node implements ChildJob {
  status: Status = 'blocked';
  reason: Fate['reason'] = null;
  keepChildren = true;
  started = false;
  counters: EdgeCounters = { open: 0, held: 0, broken: 0, missed: 0 };
  readonly plan: PlannedNode;
  readonly place: number;

  constructor(plan: PlannedNode, place: number) {
    this.plan = plan;
    this.place = place;
  }

  get ended(): boolean {
    return isTerminal(this.status);
  }

  get mode(): JudgeMode {
    return this.plan.mode;
  }

  get fate(): Fate {
    return { status: this.status === 'pending' ? 'free' : (this.status as Fate['status']), reason: this.reason };
  }
}

/** A graph run by the rules alone: an end reaches its own children, level by level, and nothing else. */
class PropagatedDag {
  readonly nodes: Node[];
  readonly edges: Edge[];
  readonly #edgesFrom: Map<number, Edge[]>;
  /** Nodes that still have to reach their children. */
  readonly queued = new Set<Node>();

  constructor(plan: readonly PlannedNode[]) {
    this.nodes = plan.map((planned, place) => new Node(planned, place));
    this.edges = plan.flatMap(({ parents }, child) =>
      parents.map(({ node, condition }) => ({ parent: node, child, condition, state: 'open' as const })),
    );
    this.#edgesFrom = Map.groupBy(this.edges, ({ parent }) => parent);
    const edgesInto = Map.groupBy(this.edges, ({ child }) => child);
    for (const node of this.nodes) {
      node.counters = sumEdges(edgesInto.get(node.place) ?? []);
      if (judgeEdges(node.counters, node.mode) === 'free') node.status = 'pending';
    }
  }

  get free(): number[] {
    return this.nodes.flatMap(({ status, place }) => (status === 'pending' ? [place] : []));
  }

  end(place: number, status: Exclude<End, 'skipped'>, { cascades }: { cascades?: boolean } = {}): void {
    const node = this.nodes[place] as Node;
    Object.assign(node, { status, started: true, keepChildren: cascades !== true });
    this.queued.add(node);
  }

  /** As `reopen` of the stores: the node waits for parents that have not ended. */
  retry(place: number): void {
    const node = this.nodes[place] as Node;
    Object.assign(node, { status: 'pending', reason: null });
    this.queued.add(node);
  }

  /** Goes one level down from up to `limit` nodes. */
  cascade(limit = Number.POSITIVE_INFINITY): void {
    const parents = [...this.queued].slice(0, limit);
    const { moves, updates } = propagate(
      parents.flatMap(({ place, status, keepChildren, plan }) => {
        const end = isTerminal(status) ? status : null;
        const parent = parentFor(end, plan.continueOnFailure, cascadeModeOf(status, keepChildren));
        return (this.#edgesFrom.get(place) ?? []).map((edge) => ({
          parent,
          edge,
          child: this.nodes[edge.child] as Node,
        }));
      }),
    );
    for (const parent of parents) this.queued.delete(parent);
    for (const { edge, to } of moves) edge.state = to;
    for (const update of updates) {
      const { child, change, fate } = update;
      const revived = isRevival(update);
      child.counters = addCounters(child.counters, change, 1);
      if (fate.kind === 'reason') child.reason = fate.reason;
      else if (fate.kind === 'end') {
        child.status = fate.status;
        child.reason = fate.reason === 'cancelled' ? null : fate.reason;
        child.keepChildren = false;
      } else if (fate.kind !== 'keep') {
        child.status = fate.kind === 'free' ? 'pending' : 'blocked';
        child.reason = null;
      }
      if (revived || fate.kind === 'end') this.queued.add(child);
    }
  }

  settle(): void {
    while (this.queued.size > 0) this.cascade();
  }

  run(pick: Pick, round: 0 | 1): number[] {
    const ended: number[] = [];
    for (let { free } = this; free.length > 0; { free } = this) {
      const place = pick(free);
      this.end(place, (this.nodes[place] as Node).plan.ends[round]);
      this.settle();
      ended.push(place);
    }
    return ended;
  }

  get fates(): Fate[] {
    return this.nodes.map(({ fate }) => fate);
  }

  /** What must be true whenever nothing is queued. */
  check(): void {
    for (const { place, counters } of this.nodes) {
      assert.deepEqual(counters, sumEdges(this.edges.filter(({ child }) => child === place)), `counters of ${place}`);
    }
  }
}

const picks = fc.array(fc.nat(), { minLength: 1, maxLength: 40 });
const runs = { numRuns: effort.dagRuns };

test('propagate: comes to what a rescan of everything comes to, in the same order of starts', () => {
  fc.assert(
    fc.property(dagPlan(200), picks, (plan, numbers) => {
      const dag = new PropagatedDag(plan);
      const reference = new DagReference(plan);
      assert.deepEqual(dag.run(picker(numbers), 0), reference.run(picker(numbers), 0));
      assert.deepEqual(dag.fates, reference.fates);
      dag.check();
      assert.ok(dag.fates.every(({ status }) => status !== 'blocked'));
      assert.ok(dag.nodes.every(({ counters }) => counters.open === 0));
    }),
    runs,
  );
});

test('propagate: a cancellation cancels descendants that can no longer run, or keeps the children', () => {
  fc.assert(
    fc.property(
      dagPlan(60),
      picks,
      fc.array(fc.boolean(), { minLength: 5, maxLength: 5 }),
      (plan, numbers, cascading) => {
        const dag = new PropagatedDag(plan);
        const reference = new DagReference(plan);
        const pick = picker(numbers);
        for (let turn = 0; dag.free.length > 0; turn += 1) {
          assert.deepEqual(dag.free, reference.free);
          const place = pick(dag.free);
          const end = (plan[place] as PlannedNode).ends[0];
          const cascades = end === 'cancelled' && cascading[turn % cascading.length] === true;
          dag.end(place, end, { cascades });
          dag.settle();
          reference.end(place, end, { cascades });
          assert.deepEqual(dag.fates, reference.fates);
        }
        dag.check();
      },
    ),
    runs,
  );
});

test('propagate: after a retry rules and rescans agree again, and nothing stays blocked', () => {
  fc.assert(
    fc.property(dagPlan(60), picks, fc.nat(), (plan, numbers, choice) => {
      const dag = new PropagatedDag(plan);
      const reference = new DagReference(plan);
      dag.run(picker(numbers), 0);
      reference.run(picker(numbers), 0);
      const retryable = dag.fates.flatMap(({ status }, place) =>
        ['failed', 'cancelled'].includes(status) ? [place] : [],
      );
      if (retryable.length === 0) return;
      const place = retryable[choice % retryable.length] as number;
      dag.retry(place);
      dag.settle();
      reference.retry(place);
      assert.deepEqual(statusesOf(dag), statusesOf(reference));
      assert.deepEqual(dag.run(picker(numbers), 1), reference.run(picker(numbers), 1));
      assert.deepEqual(statusesOf(dag), statusesOf(reference));
      dag.check();
      assert.ok(dag.fates.every(({ status }) => status !== 'blocked'));
      assert.ok(dag.nodes.every(({ counters }) => counters.open === 0));
    }),
    runs,
  );
});

test('propagate: how ends and levels are batched does not matter', () => {
  fc.assert(
    fc.property(dagPlan(60), picks, (plan, numbers) => {
      const dag = new PropagatedDag(plan);
      const reference = new DagReference(plan);
      const pick = picker(numbers);
      for (;;) {
        const { free } = dag;
        if (free.length === 0 && dag.queued.size === 0) break;
        for (const place of new Set(free.length === 0 ? [] : [pick(free), pick(free)])) {
          const end = (plan[place] as PlannedNode).ends[0];
          assert.notEqual(reference.fates[place]?.status, 'blocked', `${place} runs too early`);
          dag.end(place, end);
          reference.end(place, end);
        }
        dag.cascade(1 + ((numbers[0] as number) % 3));
      }
      assert.deepEqual(statusesOf(dag), statusesOf(reference));
      dag.check();
    }),
    runs,
  );
});

const edges = fc.array(
  fc.record({
    condition: fc.constantFrom(...CONDITIONS),
    state: fc.constantFrom<EdgeState>('open', 'held', 'impossible'),
    isGiven: fc.boolean(),
  }),
  { minLength: 1, maxLength: 6 },
);

/** The rule that `propagateSuccess` on SQLite and `end_linked` on PostgreSQL shortcut. */
test('propagate: successes only unblock a child that has no bad edge and asks none of them for a failure', () => {
  fc.assert(
    fc.property(edges, fc.constantFrom<JudgeMode>('each', 'together'), (all, mode) => {
      const given = all.filter(({ isGiven }) => isGiven);
      const counters = sumEdges(all);
      const isUnblockable =
        given.length > 0 &&
        counters.broken + counters.missed === 0 &&
        given.every(({ condition, state }) => state === 'open' && condition !== 'failure');
      fc.pre(isUnblockable);
      const child = { ended: false, status: 'blocked', started: false, counters, mode } as const;
      const parent = parentFor('done', false, 'ended');
      const { moves, updates } = propagate(given.map((edge) => ({ parent, edge, child })));
      assert.deepEqual(
        moves.map(({ to }) => to),
        given.map(() => 'held'),
      );
      const count = given.length;
      const change = { open: -count, held: count, broken: 0, missed: 0 };
      const fate = { kind: counters.open > count ? 'keep' : 'free' };
      assert.deepEqual(updates, [{ child, change, fate }]);
    }),
    { numRuns: effort.dagRuns * 10 },
  );
});

function statusesOf({ fates }: { fates: readonly Fate[] }): string[] {
  return fates.map(({ status }) => status);
}
