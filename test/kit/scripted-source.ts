/** A job source in memory that a test can make slow, unreachable or lossy. It does not retry or reap jobs. */

import type { CheckpointContent, NewCheckpoint } from '../../src/core/checkpoint.ts';
import { type ClaimedJob, DEFAULT_SPEC, type JobSpec } from '../../src/core/job.ts';
import type { HeartbeatOrders, LeaseRef, Report, WorkerHeartbeat } from '../../src/core/lease.ts';
import type { Outcome, Settlement, SettleResult } from '../../src/core/outcome.ts';
import type { LogChunk } from '../../src/core/output.ts';
import type { JobSource, Registration, SourceClaim } from '../../src/worker/job-source.ts';

type Call = 'register' | 'claim' | 'heartbeat' | 'settle' | 'writeOutput' | 'report' | 'writeCheckpoint' | 'leave';

export class ScriptedSource implements JobSource {
  leaseMs = 30_000;
  heartbeatMs = 50;
  /** Sent to the worker with the reply to its next heartbeat. */
  readonly cancel: LeaseRef[] = [];
  readonly lost: LeaseRef[] = [];
  drain = false;
  forgotten = false;
  readonly claims: SourceClaim[] = [];
  readonly endedWaits: number[] = [];
  readonly beats: WorkerHeartbeat[] = [];
  readonly settlements: Settlement[] = [];
  readonly chunks: LogChunk[] = [];
  readonly reports: Report[] = [];
  readonly checkpoints: (Pick<NewCheckpoint, 'jobId' | 'kind' | 'bytes'> & { data: Buffer })[] = [];
  readonly left: number[] = [];
  settleResult: SettleResult = 'ok';
  holdsOutput = true;
  /** Output is kept as text unless this is false. */
  keepOutput = true;
  outputBytes = 0;
  #pending: ClaimedJob[] = [];
  #nextId = 1;
  #workerId = 0;
  #wake: (() => void)[] = [];
  #before: { call: Call; hook: () => Promise<void> | void }[] = [];
  #after: { call: Call; hook: () => Promise<void> | void }[] = [];
  #watchers: (() => void)[] = [];
  #nudge: (() => void) | undefined;

  /** Makes jobs claimable; returns their ids. */
  submit(...specs: Partial<JobSpec & Pick<ClaimedJob, 'runContext' | 'suspect'>>[]): number[] {
    const jobs = specs.map((spec) => ({
      ...DEFAULT_SPEC,
      runContext: null,
      ...spec,
      id: this.#nextId++,
      attempt: 1,
      failures: 0,
      dueAt: 0,
      startedAt: 0,
    }));
    this.#pending.push(...jobs);
    for (const wake of this.#wake.splice(0)) wake();
    return jobs.map(({ id }) => id);
  }

  /** Makes the same job claimable again. */
  submitAgain(id: number, attempt: number, spec: Partial<JobSpec>): void {
    this.#pending.push({
      ...DEFAULT_SPEC,
      ...spec,
      id,
      attempt,
      failures: 0,
      dueAt: 0,
      startedAt: 0,
      runContext: null,
    });
    for (const wake of this.#wake.splice(0)) wake();
  }

  nudge(): void {
    this.#nudge?.();
  }

  /** Called before the call takes effect: throw to lose the request. */
  before(call: Call, hook: () => Promise<void> | void): () => void {
    const entry = { call, hook };
    this.#before.push(entry);
    return () => void this.#before.splice(this.#before.indexOf(entry), 1);
  }

  /** Called after the call has taken effect: throw to lose the reply. */
  after(call: Call, hook: () => Promise<void> | void): () => void {
    const entry = { call, hook };
    this.#after.push(entry);
    return () => void this.#after.splice(this.#after.indexOf(entry), 1);
  }

  /** Resolves as soon as `condition` is true; checked after every call. */
  async until<T>(condition: () => T | undefined | false): Promise<T> {
    for (;;) {
      const value = condition();
      if (value !== undefined && value !== false) return value;
      await new Promise<void>((resolve) => this.#watchers.push(resolve));
    }
  }

  outcome(id: number, attempt = 1): Promise<Outcome> {
    return this.until(() => this.settlements.find((s) => s.jobId === id && s.attempt === attempt)?.outcome);
  }

  /** The outcome of a command that has run, without its usage, which differs from run to run. */
  async commandOutcome(id: number): Promise<Omit<Outcome, 'usage'>> {
    const { usage, ...outcome } = await this.outcome(id);
    if (usage === undefined || usage.cpuMs < 0) throw new Error(`job ${id} has no usage`);
    return outcome;
  }

  output(id: number, attempt = 1): string {
    const bytes: Buffer[] = [];
    for (const chunk of this.chunks.filter((c) => c.jobId === id && c.attempt === attempt))
      bytes.push(Buffer.from(chunk.data));
    return Buffer.concat(bytes).toString('latin1');
  }

  async register(): Promise<Registration> {
    return this.#call('register', () => {
      this.forgotten = false;
      this.#workerId += 1;
      return { workerId: this.#workerId, leaseMs: this.leaseMs, heartbeatMs: this.heartbeatMs };
    });
  }

  async claim(request: SourceClaim, signal: AbortSignal): Promise<ClaimedJob[]> {
    this.claims.push(request);
    this.#look();
    if (this.#pending.length === 0) {
      await new Promise<void>((resolve) => {
        this.#wake.push(resolve);
        signal.addEventListener('abort', () => resolve());
        setTimeout(resolve, request.waitMs).unref();
      });
    }
    if (signal.aborted) throw signal.reason;
    return this.#call('claim', () => this.#pending.splice(0, request.limit));
  }

  async endWait(_workerId: number, claimSeq: number): Promise<void> {
    this.endedWaits.push(claimSeq);
    for (const wake of this.#wake.splice(0)) wake();
  }

  async heartbeat(beat: WorkerHeartbeat): Promise<HeartbeatOrders | undefined> {
    return this.#call('heartbeat', () => {
      this.beats.push(beat);
      if (this.forgotten) return undefined;
      const held = (lease: LeaseRef) => beat.leases.some((l) => l.jobId === lease.jobId && l.attempt === lease.attempt);
      return { cancel: this.cancel.filter(held), lost: this.lost.filter(held), drain: this.drain };
    });
  }

  async settle(settlements: readonly Settlement[]): Promise<SettleResult[]> {
    return this.#call('settle', () => {
      this.settlements.push(...settlements);
      return settlements.map(() => this.settleResult);
    });
  }

  async writeOutput(chunks: readonly LogChunk[]): Promise<boolean[]> {
    return this.#call('writeOutput', () => {
      for (const chunk of chunks) this.outputBytes += chunk.data.length;
      if (this.keepOutput) this.chunks.push(...chunks);
      return chunks.map(() => this.holdsOutput);
    });
  }

  async report(reports: readonly Report[]): Promise<boolean[]> {
    return this.#call('report', () => {
      this.reports.push(...reports);
      return reports.map(() => this.holdsOutput);
    });
  }

  async writeCheckpoint({ jobId, kind, bytes, chunks }: NewCheckpoint): Promise<boolean> {
    const parts: Uint8Array[] = [];
    for await (const chunk of chunks()) parts.push(chunk);
    return this.#call('writeCheckpoint', () => {
      if (this.holdsOutput) this.checkpoints.push({ jobId, kind, bytes, data: Buffer.concat(parts) });
      return this.holdsOutput;
    });
  }

  async checkpoint(jobId: number): Promise<CheckpointContent | null> {
    const last = this.checkpoints.findLast((checkpoint) => checkpoint.jobId === jobId);
    if (last === undefined) return null;
    const { kind, bytes, data } = last;
    return {
      kind,
      bytes,
      async *chunks() {
        yield data;
      },
    };
  }

  async writeSteps(): Promise<never> {
    throw new Error('no steps are scripted');
  }

  async readSteps(): Promise<never> {
    throw new Error('no steps are scripted');
  }

  async noteUnused(): Promise<never> {
    throw new Error('no steps are scripted');
  }

  async leave(workerId: number): Promise<void> {
    await this.#call('leave', () => void this.left.push(workerId));
  }

  onNudge(_workerId: number, listener: () => void): () => void {
    this.#nudge = listener;
    return () => {
      this.#nudge = undefined;
    };
  }

  #look(): void {
    for (const watcher of this.#watchers.splice(0)) watcher();
  }

  async #call<T>(call: Call, happen: () => T): Promise<T> {
    for (const { hook } of this.#before.filter((entry) => entry.call === call)) await hook();
    const answer = happen();
    this.#look();
    for (const { hook } of this.#after.filter((entry) => entry.call === call)) await hook();
    return answer;
  }
}
