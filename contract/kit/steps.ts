/** Single steps of tests: submit, claim, settle, fail, cancel, retry, heartbeat. */

import assert from 'node:assert/strict';
import type { ClaimedJob, Job, NewJob } from '../../src/core/job.ts';
import type { HeldLease, Settled } from '../../src/core/lease.ts';
import { NEVER } from '../../src/core/never.ts';
import type { Outcome } from '../../src/core/outcome.ts';
import { type JobEvent, transition } from '../../src/core/transition.ts';
import type { NewWorker, WorkerRow } from '../../src/core/worker.ts';
import type { LostJob } from '../../src/store/duty-store.ts';
import type { ClaimRequest } from '../../src/store/job-store.ts';
import type { Store } from '../../src/store/store.ts';
import { anOffer, aWorker, LEASE_MS } from './builders.ts';
import type { Advance } from './store.ts';

export const forever = NEVER;

/** A claimed job and its worker: what a report needs. */
export interface Lease {
  job: ClaimedJob;
  workerId: number;
}

export async function submit(store: Store, jobs: readonly NewJob[]): Promise<Job[]> {
  const { items } = await store.insert(jobs, {}, forever);
  return items.map(({ job }) => job);
}

export async function submitOne(store: Store, job: NewJob): Promise<Job> {
  const [stored] = await submit(store, [job]);
  assert.ok(stored);
  return stored;
}

export function register(store: Store, wanted: Partial<NewWorker> = {}): Promise<WorkerRow> {
  return store.registerWorker(aWorker(wanted), forever);
}

export function claim(store: Store, workerId: number, wanted: Partial<ClaimRequest> = {}): Promise<ClaimedJob[]> {
  return store.claim({ workerId, limit: 100, offer: anOffer(), claimSeq: 1, ...wanted }, forever);
}

/** Submits `job`, if given, and claims the most urgent job for `workerId` or a new worker. Fails if there is none. */
export async function claimOne(store: Store, job: NewJob | null = null, workerId?: number): Promise<Lease> {
  if (job !== null) await submitOne(store, job);
  const worker = workerId ?? (await register(store)).id;
  const handler = job?.handler ?? null;
  const [claimed] = await claim(store, worker, {
    limit: 1,
    offer: anOffer({ handlers: handler === null ? [] : [handler] }),
  });
  assert.ok(claimed, 'expected a claimable job, got none');
  return { job: claimed, workerId: worker };
}

export async function succeed(store: Store, lease: Lease, result?: unknown): Promise<Settled> {
  const [answer] = await store.settle([success(lease, result)], forever);
  assert.ok(answer);
  return answer;
}

export function success({ job, workerId }: Lease, result?: unknown) {
  return { jobId: job.id, attempt: job.attempt, workerId, exitCode: 0, ...(result === undefined ? {} : { result }) };
}

export const FAILED: Outcome & { type: 'failed' } = { type: 'failed', exitCode: 7, signal: null, error: 'exit 7' };

/** Reports an end other than success. Returns the job after it, or `undefined` if the lease is lost. */
export async function report(
  store: Store,
  { job, workerId }: Lease,
  outcome: Exclude<Outcome, { type: 'succeeded' }>,
): Promise<Job | undefined> {
  const now = await readOne(store, job.id);
  if (now.status !== 'running' || now.attempt !== job.attempt || now.workerId !== workerId) return undefined;
  return decide(store, job.id, { type: 'settle', outcome });
}

export function fail(store: Store, lease: Lease): Promise<Job | undefined> {
  return report(store, lease, FAILED);
}

/** Reads the job, decides and writes; repeats if the job has changed in between. Throws if the event is not allowed. */
export async function decide(store: Store, jobId: number, event: JobEvent): Promise<Job> {
  for (;;) {
    const job = await readOne(store, jobId);
    const change = transition(job, event, 0.5);
    if (change === undefined) return job;
    const [written] = await store.applyChanges([change], forever);
    if (written !== undefined) return written;
  }
}

export function cancel(store: Store, jobId: number): Promise<Job> {
  return decide(store, jobId, { type: 'cancel' });
}

export function retry(store: Store, jobId: number): Promise<Job> {
  return decide(store, jobId, { type: 'retry' });
}

export function beat(store: Store, workerId: number, leases: readonly Lease[], seenClaim: number | null = null) {
  const listed = leases.map(({ job }) => ({ jobId: job.id, attempt: job.attempt }));
  return store.heartbeat({ workerId, leases: listed, seenClaim }, forever);
}

/** The leases that are over by the store's clock, as a reaper finds them if no clock is set. */
export async function silentLeases(store: Store): Promise<HeldLease[]> {
  const now = await store.now(forever);
  return (await store.leases(forever)).filter(({ heardAt, leaseMs }) => heardAt + leaseMs < now);
}

/** The jobs of leases that are over by the store's clock. */
export async function findLost(store: Store, limit = 1_000): Promise<LostJob[]> {
  return store.findLost({ limit, silent: await silentLeases(store) }, forever);
}

/** Marks workers whose leases are over by the store's clock as offline, and forgets old ones. */
export async function retireWorkers(store: Store, forgetAfterMs: number): Promise<number[]> {
  return store.retireWorkers({ forgetAfterMs, silent: await silentLeases(store) }, forever);
}

/** Advances the clock past every lease without a heartbeat, and takes the lost jobs back. */
export async function loseLeases(store: Store, advance: Advance): Promise<Job[]> {
  await advance(LEASE_MS + 1_000);
  const lost = await findLost(store);
  return Promise.all(lost.map(({ job, workerSeenAt }) => decide(store, job.id, { type: 'lose', workerSeenAt })));
}

export async function readOne(store: Store, jobId: number): Promise<Job> {
  const [job] = await store.read([jobId], forever);
  assert.ok(job, `job ${jobId} does not exist`);
  return job;
}

export function ids(jobs: readonly { id: number }[]): number[] {
  return jobs.map(({ id }) => id);
}
