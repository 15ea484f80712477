import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Condition, countedEnd, meetCondition } from '../../src/core/dag/conditions.ts';
import {
  addCounters,
  closeEdge,
  closing,
  type EdgeCounters,
  openEdges,
  reopenEdge,
} from '../../src/core/dag/edge-counters.ts';
import { verdict } from '../../src/core/dag/judge.ts';
import { isTerminal, type TerminalStatus } from '../../src/core/job.ts';
import { effort } from '../effort.ts';
import { dagPlan, picker } from '../kit/dag-plans.ts';
import { DagReference, type Fate, type Pick, type PlannedNode } from '../kit/dag-reference.ts';

test('conditions: what each end of a parent satisfies', () => {
  const held = (end: TerminalStatus): Condition[] =>
    (['success', 'failure', 'ended'] as const).filter((condition) => meetCondition(condition, end) === 'held');
  assert.deepEqual(held('done'), ['success', 'ended']);
  assert.deepEqual(held('failed'), ['failure', 'ended']);
  assert.deepEqual(held('cancelled'), ['ended']);
  assert.deepEqual(held('skipped'), ['ended']);
});

test('conditions: the failure of a step that may fail counts as success, no other end does', () => {
  assert.equal(countedEnd('failed', true), 'done');
  assert.equal(countedEnd('failed', false), 'failed');
  assert.equal(countedEnd('cancelled', true), 'cancelled');
  assert.equal(countedEnd('skipped', true), 'skipped');
});

function judged(mode: 'each' | 'together', edges: readonly [Condition, TerminalStatus | 'open'][]) {
  let counters = openEdges(edges.length);
  for (const [condition, end] of edges) {
    if (end !== 'open') counters = closeEdge(counters, condition, end);
  }
  return verdict(counters, mode);
}

test('judge: a job is freed when every edge holds, and not before', () => {
  assert.equal(judged('each', []), 'free');
  assert.equal(
    judged('each', [
      ['success', 'done'],
      ['failure', 'failed'],
      ['ended', 'skipped'],
    ]),
    'free',
  );
  assert.equal(
    judged('each', [
      ['success', 'done'],
      ['success', 'open'],
    ]),
    'wait',
  );
});

test('judge: the first edge of a job that cannot hold decides, while other parents still run', () => {
  for (const end of ['failed', 'cancelled', 'skipped'] as const) {
    assert.deepEqual(
      judged('each', [
        ['success', end],
        ['success', 'open'],
      ]),
      { skip: 'upstream_failed' },
    );
  }
  for (const end of ['done', 'cancelled', 'skipped'] as const) {
    assert.deepEqual(
      judged('each', [
        ['failure', end],
        ['success', 'open'],
      ]),
      { skip: 'condition' },
    );
  }
  assert.deepEqual(
    judged('each', [
      ['failure', 'done'],
      ['failure', 'failed'],
    ]),
    { skip: 'condition' },
  );
});

test('judge: a step waits for all of its parents, then judges them together', () => {
  for (const condition of ['success', 'failure', 'ended'] as const) {
    assert.equal(
      judged('together', [
        [condition, 'failed'],
        [condition, 'open'],
      ]),
      'wait',
    );
  }
  assert.equal(
    judged('together', [
      ['success', 'done'],
      ['success', 'done'],
    ]),
    'free',
  );
  assert.deepEqual(
    judged('together', [
      ['success', 'done'],
      ['success', 'skipped'],
    ]),
    { skip: 'upstream_failed' },
  );
  assert.equal(
    judged('together', [
      ['failure', 'done'],
      ['failure', 'failed'],
    ]),
    'free',
  );
  assert.deepEqual(
    judged('together', [
      ['failure', 'done'],
      ['failure', 'cancelled'],
    ]),
    { skip: 'condition' },
  );
  assert.equal(
    judged('together', [
      ['ended', 'failed'],
      ['ended', 'cancelled'],
    ]),
    'free',
  );
});

test('judge: reopening an edge undoes its closing, whatever it was', () => {
  for (const condition of ['success', 'failure', 'ended'] as const) {
    for (const end of ['done', 'failed', 'cancelled', 'skipped'] as const) {
      const before = { open: 3, held: 2, broken: 1, missed: 4 };
      const closed = closeEdge(before, condition, end);
      assert.notDeepEqual(closed, before);
      assert.deepEqual(reopenEdge(closed, condition, meetCondition(condition, end)), before);
    }
  }
});

/** A graph run by counters alone: an end touches its own children and nothing else. */
class CountedDag {
  readonly #plan: readonly PlannedNode[];
  readonly #children: { node: number; condition: Condition }[][];
  readonly counters: EdgeCounters[];
  readonly fates: Fate[];

  constructor(plan: readonly PlannedNode[]) {
    this.#plan = plan;
    this.#children = plan.map(() => []);
    plan.forEach(({ parents }, node) => {
      for (const edge of parents) this.#children[edge.node]?.push({ node, condition: edge.condition });
    });
    this.counters = plan.map(({ parents }) => openEdges(parents.length));
    this.fates = plan.map(() => ({ status: 'blocked', reason: null }));
    plan.forEach((_, node) => this.#judge(node));
  }

  run(pick: Pick, round: 0 | 1): number[] {
    const ended: number[] = [];
    for (;;) {
      const free = this.fates.flatMap(({ status }, node) => (status === 'free' ? [node] : []));
      if (free.length === 0) return ended;
      const node = pick(free);
      this.fates[node] = { status: (this.#plan[node] as PlannedNode).ends[round], reason: null };
      ended.push(node);
      this.#cascade([node]);
    }
  }

  retry(node: number): void {
    const reopened = [node];
    for (const parent of reopened) {
      const end = this.#countedEnd(parent);
      this.fates[parent] = parent === node ? { status: 'free', reason: null } : { status: 'blocked', reason: null };
      for (const { node: child, condition } of this.#children[parent] ?? []) {
        const counters = this.counters[child] as EdgeCounters;
        this.counters[child] = reopenEdge(counters, condition, meetCondition(condition, end));
        if (this.#fate(child).status === 'skipped' && !reopened.includes(child)) reopened.push(child);
      }
    }
    for (const child of reopened.slice(1)) this.#judge(child);
    this.#cascade(reopened.slice(1).filter((child) => this.#fate(child).status === 'skipped'));
  }

  /** Wave by wave, each as one set: sum up what changes, then judge whom it concerns. */
  #cascade(first: readonly number[]): void {
    for (let wave = first; wave.length > 0; ) {
      const touched = new Set<number>();
      for (const node of wave) {
        for (const { node: child, condition } of this.#children[node] ?? []) {
          const change = closing(condition, meetCondition(condition, this.#countedEnd(node)));
          this.counters[child] = addCounters(this.counters[child] as EdgeCounters, change, 1);
          touched.add(child);
        }
      }
      const blocked = [...touched].filter((child) => this.#fate(child).status === 'blocked');
      for (const child of blocked) this.#judge(child);
      wave = blocked.filter((child) => this.#fate(child).status === 'skipped');
    }
  }

  #judge(node: number): void {
    const judged = verdict(this.counters[node] as EdgeCounters, (this.#plan[node] as PlannedNode).mode);
    if (judged === 'free') this.fates[node] = { status: 'free', reason: null };
    else if (judged !== 'wait') this.fates[node] = { status: 'skipped', reason: judged.skip };
  }

  #countedEnd(node: number): TerminalStatus {
    const { status } = this.#fate(node);
    assert.ok(status !== 'free' && isTerminal(status));
    return countedEnd(status, (this.#plan[node] as PlannedNode).continueOnFailure);
  }

  #fate(node: number): Fate {
    return this.fates[node] as Fate;
  }
}

const picks = fc.array(fc.nat(), { minLength: 1, maxLength: 40 });

test('judge: counters come to what a rescan of everything comes to, in the same order of starts', () => {
  fc.assert(
    fc.property(dagPlan(200), picks, (plan, numbers) => {
      const counted = new CountedDag(plan);
      const reference = new DagReference(plan);
      assert.deepEqual(counted.run(picker(numbers), 0), reference.run(picker(numbers), 0));
      assert.deepEqual(counted.fates, reference.fates);
      assert.ok(counted.fates.every(({ status }) => status !== 'blocked'));
      assert.ok(counted.counters.every(({ open }) => open === 0));
    }),
    { numRuns: effort.dagRuns },
  );
});

test('judge: after a retry counters and rescans agree again, and nothing stays blocked', () => {
  fc.assert(
    fc.property(dagPlan(60), picks, fc.nat(), (plan, numbers, choice) => {
      const counted = new CountedDag(plan);
      const reference = new DagReference(plan);
      counted.run(picker(numbers), 0);
      reference.run(picker(numbers), 0);
      const retryable = counted.fates.flatMap(({ status }, node) =>
        ['failed', 'cancelled'].includes(status) ? [node] : [],
      );
      if (retryable.length === 0) return;
      const node = retryable[choice % retryable.length] as number;
      counted.retry(node);
      reference.retry(node);
      assert.deepEqual(counted.run(picker(numbers), 1), reference.run(picker(numbers), 1));
      assert.deepEqual(statusesOf(counted), statusesOf(reference));
      assert.ok(counted.fates.every(({ status }) => status !== 'blocked'));
      assert.ok(counted.counters.every(({ open }) => open === 0));
    }),
    { numRuns: effort.dagRuns },
  );
});

function statusesOf({ fates }: { fates: Fate[] }): string[] {
  return fates.map(({ status }) => status);
}
