/** A planned graph in a store: its nodes as jobs or as steps of one workflow, ended as the plan says. */

import assert from 'node:assert/strict';
import { aJob, aStep, aWorkflow } from '../../contract/kit/builders.ts';
import { settleDown } from '../../contract/kit/graph.ts';
import {
  claim,
  decide,
  FAILED,
  forever,
  type Lease,
  loseLeases,
  register,
  submitOne,
  success,
} from '../../contract/kit/steps.ts';
import type { Advance, TestStore } from '../../contract/kit/store.ts';
import { DEFAULT_BACKOFF, type Job, type NewJob, type Status } from '../../src/core/job.ts';
import { type Change, transition } from '../../src/core/transition.ts';
import type { Store } from '../../src/store/store.ts';
import type { DagReference, End, Fate, PlannedNode } from './dag-reference.ts';

/** A budget that no lost worker uses up, and no waiting after one. */
const SPEC: Partial<NewJob> = { maxAttempts: 1_000, backoff: { ...DEFAULT_BACKOFF, type: 'none' } };

/** The plan as it is for jobs, each edge with its own condition. */
export function asJobs(plan: readonly PlannedNode[]): PlannedNode[] {
  return plan.map((node) => ({ ...node, mode: 'each' }));
}

/** The plan as it is for steps, each with one condition for all of its parents. */
export function asSteps(plan: readonly PlannedNode[]): PlannedNode[] {
  return plan.map(({ parents, ...node }) => {
    const condition = parents[0]?.condition ?? 'success';
    return { ...node, parents: parents.map((edge) => ({ node: edge.node, condition })), mode: 'together' };
  });
}

export class DagDriver {
  readonly store: Store;
  readonly #advance: Advance;
  readonly #plan: readonly PlannedNode[];
  /** Of the nodes submitted so far. */
  readonly ids: number[] = [];
  workflowId: number | null = null;
  #workerId = 0;
  readonly #leases = new Map<number, Lease>();

  constructor(opened: TestStore, plan: readonly PlannedNode[]) {
    this.store = opened.store;
    this.#advance = (ms) => opened.advance(ms);
    this.#plan = plan;
  }

  async submitJob(): Promise<void> {
    const { parents, continueOnFailure } = this.#plan[this.ids.length] as PlannedNode;
    const dependsOn = parents.map(({ node, condition }) => ({ jobId: this.ids[node] as number, condition }));
    this.ids.push((await submitOne(this.store, aJob({ ...SPEC, continueOnFailure, dependsOn }))).id);
  }

  async submitWorkflow(): Promise<void> {
    const steps = this.#plan.map(({ parents, continueOnFailure }, node) =>
      aStep(`s${node}`, {
        job: { ...SPEC, continueOnFailure },
        parents: parents.map((edge) => edge.node),
        condition: parents[0]?.condition ?? 'success',
      }),
    );
    const { workflow } = await this.store.insertWorkflow(aWorkflow(steps), {}, forever);
    this.workflowId = workflow.id;
    this.ids.push(...(await this.store.steps(workflow.id, null, forever)).map(({ job }) => job.id));
  }

  /** Claims every claimable job. */
  async take(): Promise<void> {
    if (this.#workerId === 0) this.#workerId = (await register(this.store)).id;
    const claimed = await claim(this.store, this.#workerId, { limit: 1_000 });
    for (const job of claimed) this.#leases.set(job.id, { job, workerId: this.#workerId });
  }

  /** The worker falls silent and is given up; another one takes what it had. */
  async loseWorker(): Promise<void> {
    await loseLeases(this.store, this.#advance);
    this.#leases.clear();
    this.#workerId = 0;
    await this.take();
  }

  /**
   * Ends claimed nodes, in one call where possible. Without `fastPath`, successes are written as all other ends are, and not
   * by `settle`.
   */
  async end(
    nodes: readonly { node: number; end: Exclude<End, 'skipped'>; cascades?: boolean }[],
    { fastPath = true }: { fastPath?: boolean } = {},
  ): Promise<void> {
    const isSettled = ({ end }: { end: End }) => fastPath && end === 'done';
    const done = nodes.filter(isSettled).map(({ node }) => this.#lease(node));
    const rest = nodes.filter((node) => !isSettled(node));
    for (const { node, end, cascades } of rest) {
      if (end === 'cancelled') await this.#decideFor(node, { type: 'cancel', keepChildren: cascades !== true });
    }
    const changes = await Promise.all(rest.map(({ node, end }) => this.#ending(node, end)));
    const [answers, written] = await Promise.all([
      this.store.settle(
        done.map((lease) => success(lease)),
        forever,
      ),
      this.store.applyChanges(changes, forever),
    ]);
    assert.ok(answers.every(({ result }) => result === 'ok') && written.every((job) => job !== undefined));
    for (const { node } of nodes) this.#leases.delete(this.ids[node] as number);
  }

  /** A person cancels it, running or not. */
  cancel(node: number, { cascades }: { cascades: boolean }): Promise<Job> {
    return this.#decideFor(node, { type: 'cancel', keepChildren: !cascades });
  }

  retry(node: number): Promise<Job> {
    return this.#decideFor(node, { type: 'retry' });
  }

  settleDown(): Promise<void> {
    return settleDown(this.store);
  }

  /** Nodes as they are, in the words of the reference. */
  async fates(): Promise<Fate[]> {
    const jobs: Job[] = [];
    for (let start = 0; start < this.ids.length; start += 100) {
      jobs.push(...(await this.store.read(this.ids.slice(start, start + 100), forever)));
    }
    return jobs.map(({ status, reason }) => ({
      status: wordFor(status),
      reason: status === 'skipped' ? (reason as Fate['reason']) : null,
    }));
  }

  /** What must be true of the store once the cascade is empty. */
  async agree(reference: DagReference): Promise<void> {
    assert.deepEqual(await this.fates(), reference.fates.slice(0, this.ids.length));
  }

  /** The same, except that of two reasons to skip a node either is accepted: it is not known which came first. */
  async agreeOnStatus(reference: DagReference): Promise<void> {
    assert.deepEqual(
      (await this.fates()).map(({ status }) => status),
      reference.fates.slice(0, this.ids.length).map(({ status }) => status),
    );
  }

  #lease(node: number): Lease {
    return this.#leases.get(this.ids[node] as number) ?? assert.fail(`node ${node} was free but not to be had`);
  }

  async #ending(node: number, end: Exclude<End, 'skipped'>): Promise<Change> {
    this.#lease(node);
    const [job] = await this.store.read([this.ids[node] as number], forever);
    const outcome = end === 'cancelled' ? ({ type: 'cancelled', error: null } as const) : { ...FAILED, fatal: true };
    const change = transition(job as Job, { type: 'settle', outcome }, 0.5) ?? assert.fail();
    if (end !== 'done') return change;
    assert.ok(change.kind === 'end');
    const record = { outcome: 'done', exitCode: 0, signal: null, error: null } as const;
    return { ...change, status: 'done', reason: null, error: null, record };
  }

  #decideFor(node: number, event: Parameters<typeof decide>[2]): Promise<Job> {
    return decide(this.store, this.ids[node] as number, event);
  }
}

function wordFor(status: Status): Fate['status'] {
  return status === 'pending' || status === 'scheduled' || status === 'running' ? 'free' : status;
}
