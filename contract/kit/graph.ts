/** Steps of tests about dependencies, workflows and groups. */

import assert from 'node:assert/strict';
import type { Condition } from '../../src/core/dag/conditions.ts';
import type { NewWorkflow } from '../../src/core/dag/new-workflow.ts';
import type { Workflow } from '../../src/core/dag/workflow.ts';
import type { Dependency, Job, NewJob } from '../../src/core/job.ts';
import { type Change, transition } from '../../src/core/transition.ts';
import type { Store } from '../../src/store/store.ts';
import { aJob } from './builders.ts';
import {
  claim,
  decide,
  FAILED,
  fail,
  forever,
  type Lease,
  readOne,
  register,
  report,
  submitOne,
  succeed,
} from './steps.ts';

/** A dependency on a job. */
export function on({ id }: { id: number }, condition: Condition = 'success'): Dependency {
  return { jobId: id, condition };
}

/** A job that waits for these to succeed. */
export function after(parents: readonly { id: number }[], wanted: Partial<NewJob> = {}): NewJob {
  return aJob({ ...wanted, dependsOn: parents.map((parent) => on(parent)) });
}

/** Jobs of which each waits for the one before. */
export async function submitChain(store: Store, length: number, condition: Condition = 'success'): Promise<Job[]> {
  const chain: Job[] = [];
  while (chain.length < length) {
    const last = chain.at(-1);
    chain.push(await submitOne(store, aJob({ dependsOn: last === undefined ? [] : [on(last, condition)] })));
  }
  return chain;
}

/** Runs the cascade and fills groups until there is nothing left to do. */
export async function settleDown(store: Store): Promise<void> {
  for (;;) {
    const propagated = await store.cascade(100, forever);
    if ((await store.expand(100, forever)) + propagated === 0) return;
  }
}

/** The workflow, and the ids of its steps' jobs by key. */
export async function submitWorkflow(
  store: Store,
  wanted: NewWorkflow,
): Promise<{ workflow: Workflow; step: Record<string, number> }> {
  const { workflow } = await store.insertWorkflow(wanted, {}, forever);
  const steps = await store.steps(workflow.id, null, forever);
  return { workflow, step: Object.fromEntries(steps.map(({ key, job }) => [key, job.id])) };
}

export async function readWorkflow(store: Store, { id }: { id: number }): Promise<Workflow> {
  return (await store.workflow(id, forever)) ?? assert.fail(`workflow ${id} does not exist`);
}

export async function statuses(store: Store, jobs: readonly (number | { id: number })[]): Promise<string[]> {
  const read = await store.read(
    jobs.map((job) => (typeof job === 'number' ? job : job.id)),
    forever,
  );
  return read.map(({ status }) => status);
}

/** The status of each job, with the reason if there is one. */
export async function fates(store: Store, jobs: readonly { id: number }[]): Promise<string[]> {
  const read = await store.read(
    jobs.map(({ id }) => id),
    forever,
  );
  return read.map(({ status, reason }) => (reason === null ? status : `${status}: ${reason}`));
}

export function cancelKeepingChildren(store: Store, jobId: number): Promise<Job> {
  return decide(store, jobId, { type: 'cancel', keepChildren: true });
}

/** The change of a manual retry, to be written together with others. */
export async function retryChange(store: Store, jobId: number): Promise<Change> {
  return transition(await readOne(store, jobId), { type: 'retry' }, 0) ?? assert.fail();
}

/** One worker that claims every job and ends each as the test asks. */
export class Hands {
  readonly #store: Store;
  readonly #leases = new Map<number, Lease>();
  readonly workerId: number;

  private constructor(store: Store, workerId: number) {
    this.#store = store;
    this.workerId = workerId;
  }

  /** With a lease that outlasts the test, however slow the machine is. */
  static async of(store: Store): Promise<Hands> {
    return new Hands(store, (await register(store, { leaseMs: 3_600_000 })).id);
  }

  /** Claims every claimable job; returns the ids in ascending order. */
  async take(): Promise<number[]> {
    // The test may have let its lease pass.
    await this.#store.heartbeat({ workerId: this.workerId, leases: null, seenClaim: null }, forever);
    const claimed = await claim(this.#store, this.workerId, { limit: 1_000 });
    for (const job of claimed) this.#leases.set(job.id, { job, workerId: this.workerId });
    return claimed.map(({ id }) => id).sort((a, b) => a - b);
  }

  /** Its lease on this job; claims first if it has none. */
  async lease(job: number | { id: number }): Promise<Lease> {
    const id = typeof job === 'number' ? job : job.id;
    if (!this.#leases.has(id)) await this.take();
    return this.#leases.get(id) ?? assert.fail(`job ${id} cannot be claimed`);
  }

  async done(job: number | { id: number }, result?: unknown): Promise<void> {
    const lease = await this.#release(job);
    assert.equal((await succeed(this.#store, lease, result)).result, 'ok');
  }

  /** Fails for good, whatever budget is left. */
  async failed(job: number | { id: number }): Promise<void> {
    await report(this.#store, await this.#release(job), { ...FAILED, fatal: true });
  }

  /** Fails one attempt; the job may run again. */
  async failedOnce(job: number | { id: number }): Promise<void> {
    await fail(this.#store, await this.#release(job));
  }

  async cancelled(job: number | { id: number }): Promise<void> {
    await report(this.#store, await this.#release(job), { type: 'cancelled', error: null });
  }

  async #release(job: number | { id: number }): Promise<Lease> {
    const lease = await this.lease(job);
    this.#leases.delete(lease.job.id);
    return lease;
  }
}
