/**
 * Random gangs on workers that are killed: all members start or none, no attempt of an earlier term counts, no two gangs wait for what the
 * other holds, and every gang ends.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aJob, anOffer, aWorker } from '../../contract/kit/builders.ts';
import { VirtualClock } from '../../contract/kit/clock.ts';
import type { Gang } from '../../src/core/gang.ts';
import { isTerminal } from '../../src/core/job.ts';
import { NEVER as signal } from '../../src/core/never.ts';
import type { Outcome } from '../../src/core/outcome.ts';
import { silentLog } from '../../src/ops/log.ts';
import { Metrics } from '../../src/ops/metrics.ts';
import { createScheduler } from '../../src/scheduler/create-scheduler.ts';
import { placer } from '../../src/scheduler/duties/placer.ts';
import { reaper } from '../../src/scheduler/duties/reaper.ts';
import { openMemory } from '../../src/store/memory/open.ts';
import { effort } from '../effort.ts';

const LEASE_MS = 30_000;
const STEP_MS = 8_000;
const SLOTS = 2;
const WORKERS = 3;
const GANGS_PER_RUN = 20;
const MAX_ROUNDS = 1_500;

interface Lease {
  jobId: number;
  attempt: number;
  workerId: number;
}

interface Member {
  gangId: string;
  rank: number;
  /** The terms in which its attempts started. */
  terms: Map<number, number>;
}

/** mulberry32 */
function randomOf(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

class Run {
  readonly #random: (below: number) => number;
  readonly #clock = new VirtualClock();
  readonly #store = openMemory({ clock: this.#clock });
  readonly #parts = createScheduler({
    store: this.#store,
    clock: this.#clock,
    random: () => 0.5,
    log: silentLog,
    metrics: new Metrics('0', 'me'),
    instanceId: 'me',
    leaseMs: LEASE_MS,
    heartbeatMs: 5_000,
  });
  readonly #placer = placer(this.#parts.context);
  readonly #reaper = reaper(this.#parts.context, { everyMs: 10_000, leaseMs: LEASE_MS, forgetAfterMs: 86_400_000 });
  readonly #workers = new Map<number, Lease[]>();
  readonly #members = new Map<number, Member>();
  readonly #old: Lease[] = [];
  #made = 0;
  #claims = 0;

  constructor(seed: number) {
    this.#random = randomOf(seed);
  }

  async toTheEnd(): Promise<void> {
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      await this.#step();
      if (this.#made === GANGS_PER_RUN && (await this.#allEnded())) return;
    }
    const open = await this.#store.list(
      { statuses: ['pending', 'running', 'blocked', 'scheduled'] },
      { before: null, limit: 50 },
      signal,
    );
    assert.fail(`gangs that do not end: ${JSON.stringify(open.map(({ id, status, gang }) => [id, status, gang?.id]))}`);
  }

  async #step(): Promise<void> {
    while (this.#workers.size < WORKERS) await this.#register();
    if (this.#made < GANGS_PER_RUN && this.#random(2) === 0) await this.#submit();
    await this.#placer.tick(signal);
    await this.#check();
    for (const workerId of [...this.#workers.keys()].sort(() => this.#random(3) - 1)) await this.#work(workerId);
    if (this.#random(12) === 0) this.#kill();
    if (this.#random(6) === 0) await this.#reportLate();
    this.#clock.advance(STEP_MS);
    await this.#reaper.tick(signal);
    await this.#store.promote(100, signal);
  }

  async #register(): Promise<void> {
    const { id } = await this.#parts.scheduler.register(aWorker({ slots: SLOTS, leaseMs: LEASE_MS }), signal);
    this.#workers.set(id, []);
  }

  async #submit(): Promise<void> {
    const id = `g${this.#made}`;
    this.#made += 1;
    const rules = ['restart', 'restart', 'restart', 'fail', 'continue'] as const;
    const onMemberFailure = rules[this.#random(rules.length)] as Gang['onMemberFailure'];
    const size = 1 + this.#random(SLOTS * WORKERS);
    const min = onMemberFailure === 'continue' || this.#random(2) === 0 ? size : 1 + this.#random(size);
    const spread = (['pack', 'spread'] as const)[this.#random(2)] as Gang['spread'];
    const jobs = Array.from({ length: size }, (_, rank) =>
      aJob({
        tags: [`gang:${id}`],
        priority: 0,
        maxAttempts: onMemberFailure === 'restart' ? 3 : 1,
        gang: { id, rank, size, min, spread, onMemberFailure, timeoutMs: 120_000 },
      }),
    );
    const { items } = await this.#parts.scheduler.submit(jobs, {}, signal);
    for (const [rank, { job }] of items.entries()) this.#members.set(job.id, { gangId: id, rank, terms: new Map() });
  }

  /** A heartbeat, a claim, and some ends. */
  async #work(workerId: number): Promise<void> {
    const { scheduler } = this.#parts;
    const held = this.#workers.get(workerId) as Lease[];
    const leases = held.map(({ jobId, attempt }) => ({ jobId, attempt }));
    const orders = await scheduler.heartbeat({ workerId, leases, seenClaim: this.#claims }, signal);
    for (const { jobId } of orders?.cancel ?? []) {
      await this.#end(held.find((lease) => lease.jobId === jobId) as Lease, { type: 'cancelled', error: null });
    }
    for (const { jobId } of orders?.lost ?? []) this.#forget(held.find((lease) => lease.jobId === jobId));
    for (const lease of this.#workers.get(workerId) ?? []) {
      if (this.#random(4) === 0) await this.#end(lease, this.#outcome());
    }
    const kept = this.#workers.get(workerId) as Lease[];
    const limit = SLOTS - kept.length;
    if (limit === 0) return;
    this.#claims += 1;
    const request = { workerId, limit, offer: anOffer(), claimSeq: this.#claims, waitMs: 0 };
    for (const job of await scheduler.claim(request, signal)) {
      kept.push({ jobId: job.id, attempt: job.attempt, workerId });
      const member = this.#members.get(job.id) as Member;
      const [gang] = await this.#store.gangs([member.gangId], signal);
      member.terms.set(job.attempt, gang?.term ?? 0);
      const places = (await this.#store.places(signal)).filter(({ gangId }) => gangId === member.gangId);
      assert.equal(places.length, job.gang?.size, 'a member has started without a place for each');
      const hosts = places.filter(({ workerId: site }) => site !== null).length;
      assert.ok(hosts >= (job.gang?.min ?? 0), 'a gang has started with less than it needs');
      assert.equal(job.gangContext?.hosts.length, hosts);
      assert.ok(
        places.every(({ accepted }) => accepted),
        'a member has started before all places are held',
      );
    }
  }

  #outcome(): Outcome {
    const kind = this.#random(20);
    if (kind === 0) return { type: 'failed', exitCode: 1, signal: null, error: 'exit 1' };
    if (kind === 1) return { type: 'timed_out', exitCode: null, signal: 'SIGTERM', error: 'late' };
    if (kind === 2) return { type: 'interrupted', error: 'drained' };
    if (kind === 3) return { type: 'snoozed', delayMs: 3 * STEP_MS };
    return { type: 'succeeded', exitCode: 0 };
  }

  async #end(lease: Lease, outcome: Outcome): Promise<void> {
    await this.#parts.scheduler.settle([{ ...lease, outcome }], signal);
    this.#forget(lease);
  }

  #forget(lease: Lease | undefined): void {
    if (lease === undefined) return;
    const held = this.#workers.get(lease.workerId) ?? [];
    this.#workers.set(
      lease.workerId,
      held.filter((other) => other !== lease),
    );
    this.#old.push(lease);
  }

  /** No heartbeat comes any more. */
  #kill(): void {
    const ids = [...this.#workers.keys()];
    const id = ids[this.#random(ids.length)] as number;
    this.#old.push(...(this.#workers.get(id) ?? []));
    this.#workers.delete(id);
  }

  /** A worker that was thought dead reports an attempt that is over. */
  async #reportLate(): Promise<void> {
    const lease = this.#old[this.#random(Math.max(1, this.#old.length))];
    const [before] = lease === undefined ? [] : await this.#store.read([lease.jobId], signal);
    if (lease === undefined || before === undefined || before.attempt === lease.attempt) return;
    await this.#parts.scheduler.settle([{ ...lease, outcome: { type: 'succeeded', exitCode: 0 } }], signal);
    const fatal = { type: 'failed', exitCode: 1, signal: null, error: 'late', fatal: true } as const;
    await this.#parts.scheduler.settle([{ ...lease, outcome: fatal }], signal);
    const [after] = await this.#store.read([lease.jobId], signal);
    assert.deepEqual(after, before, 'an attempt of an earlier term has changed a member');
  }

  async #check(): Promise<void> {
    const places = await this.#store.places(signal);
    const jobs = new Map((await this.#store.read([...this.#members.keys()], signal)).map((job) => [job.id, job]));
    const waiting = places.filter(({ started, jobId }) => !started && jobs.get(jobId)?.status === 'pending');
    const gangs = new Set(waiting.map(({ gangId }) => gangId));
    const room = (without: string | null) =>
      [...this.#workers].every(([id, held]) => {
        const own = waiting.filter(({ workerId, gangId }) => workerId === id && gangId !== without);
        return held.length + own.length <= SLOTS;
      });
    assert.ok(room(null) || [...gangs].some(room), 'two gangs wait for room that is not free');
    for (const gang of await this.#store.gangs([...new Set(places.map(({ gangId }) => gangId))], signal)) {
      for (const [jobId, { gangId, terms }] of this.#members) {
        const job = jobs.get(jobId);
        if (gangId !== gang.id || job?.status !== 'running') continue;
        assert.equal(terms.get(job.attempt) ?? gang.term, gang.term, 'a member runs in an earlier term than its gang');
      }
    }
    for (const [, ofGang] of Map.groupBy([...jobs.values()], ({ gang }) => gang?.id)) {
      if (ofGang[0]?.gang?.onMemberFailure === 'continue') continue;
      const done = ofGang.filter(({ status }) => status === 'done').length;
      if (done === 0) continue;
      const others = ofGang.filter(({ status, reason }) => status !== 'done' && reason !== 'gang');
      assert.deepEqual(others.length, 0, 'some members are done and others are not');
      assert.ok(done >= (ofGang[0]?.gang?.min ?? 0), 'a gang is done with less than it needs');
    }
  }

  async #allEnded(): Promise<boolean> {
    const jobs = await this.#store.read([...this.#members.keys()], signal);
    return jobs.every(({ status }) => isTerminal(status));
  }
}

test(`gangs: ${effort.gangs} random gangs on workers that are killed all end, and never wait for each other`, async () => {
  for (let seed = 1; seed <= effort.gangs / GANGS_PER_RUN; seed += 1) {
    await new Run(seed).toTheEnd().catch((error: unknown) => {
      throw new Error(`seed ${seed}`, { cause: error });
    });
  }
});
