/** Asks a job source for work, runs it, keeps its lease, reports. */

import { rmSync } from 'node:fs';
import type { Clock, Random } from '../core/clock.ts';
import type { ClaimedJob } from '../core/job.ts';
import type { HeartbeatOrders } from '../core/lease.ts';
import { NEVER } from '../core/never.ts';
import type { Outcome } from '../core/outcome.ts';
import type { Log } from '../ops/log.ts';
import { planClaim } from './claim/claim-plan.ts';
import { Claimer, type ClaimPlan } from './claim/claimer.ts';
import { Prefetch } from './claim/prefetch.ts';
import { commandExecutor } from './command/command-executor.ts';
import type { JobSource, Registration, WorkerProfile } from './job-source.ts';
import type { Launcher, LauncherOptions } from './launcher/launcher.ts';
import { openLauncher } from './launcher/open-launcher.ts';
import { makeWorkFolder } from './launcher/work-folder.ts';
import { Heartbeater } from './lease/heartbeater.ts';
import { Lease } from './lease/lease.ts';
import { LeaseKeeper } from './lease/lease-keeper.ts';
import { Membership } from './lease/membership.ts';
import { watchContact } from './lease/watch-contact.ts';
import { OutputWriter } from './report/output-writer.ts';
import { Reporter } from './report/reporter.ts';
import { Settler } from './report/settler.ts';
import { Assignment } from './run/assignment.ts';
import { type Handlers, handlerExecutor } from './run/handler-executor.ts';
import { Held } from './run/held.ts';
import { longestMsOf, Runner } from './run/runner.ts';
import { monotonicMs } from './time/monotonic.ts';

const CLAIM_WAIT_MS = 20_000;
const ANSWER_MS = 10_000;
/** Outcomes that wait to be reported, beyond which no more work is asked for. */
const MAX_UNREPORTED = 10_000;

export interface WorkerOptions {
  source: JobSource;
  profile: WorkerProfile;
  clock: Clock;
  random: Random;
  log: Log;
  /** Functions by name; `profile.handlers` says which of them are offered. */
  handlers?: Handlers;
  /** `auto`: where the machine allows it, commands run in a PID namespace. */
  pidNamespace?: LauncherOptions['pidNamespace'];
  /** How long one claim waits for work. */
  claimWaitMs?: number;
}

export class Worker {
  readonly #options: WorkerOptions;
  #leaseKeeper: LeaseKeeper | undefined;
  readonly #lease = new Lease(monotonicMs, () => this.#leaseKeeper?.renewedAt ?? 0);
  readonly #membership: Membership;
  readonly #claimer: Claimer;
  readonly #heartbeater: Heartbeater;
  readonly #settler: Settler;
  readonly #output: OutputWriter;
  readonly #runner: Runner;
  /** Claimed ahead; they are held, but have no slot. */
  readonly #prefetch: Prefetch;
  /** Leases that the scheduler must be told about. */
  readonly #held = new Held();
  #filling = false;
  readonly #draining = new AbortController();
  readonly #leaving = new AbortController();
  readonly #ended = Promise.withResolvers<void>();
  #launcher: Launcher | null = null;
  #onIdle: (() => void) | undefined;
  #started = false;

  constructor(options: WorkerOptions) {
    this.#options = options;
    const { source, profile, clock, random, log } = options;
    const common = { source, clock, random, log };
    this.#output = new OutputWriter({ ...common, lease: this.#lease, monotonicMs });
    this.#runner = new Runner({
      profile,
      handlers: handlerExecutor(options.handlers ?? {}, this.#output, new Reporter(source, log)),
      log,
      onHandler: (job) => {
        this.#prefetch.began();
        this.#leaseKeeper?.starting(longestMsOf(job));
      },
      onOutcome: (assignment, outcome) => this.#report(assignment, outcome),
      onFree: () => this.#freed(),
    });
    this.#prefetch = new Prefetch({
      clock,
      isCutOff: () => this.#lease.cutOffInMs <= 0,
      onReturned: (assignment) => this.#return(assignment),
    });
    this.#membership = new Membership({
      ...common,
      profile,
      onRegistered: (sentAt) => this.#renew(sentAt),
      onNudge: () => this.#heartbeater.nudge(),
    });
    this.#settler = new Settler({ ...common, onSettled: (assignment) => this.#letGo(assignment) });
    this.#claimer = new Claimer({
      ...common,
      request: () => this.#request(),
      onJobs: (jobs, wish) => this.#take(jobs, wish),
    });
    this.#heartbeater = new Heartbeater({
      ...common,
      monotonicMs,
      heartbeat: () => ({
        workerId: this.#registered.workerId,
        leases: this.#held.leases(),
        started: this.#runner.startsToTell(),
        seenClaim: this.#claimer.seen,
      }),
      onOrders: (orders, sentAt) => this.#obey(orders, sentAt),
      onForgotten: (signal) => this.#registerAgain(signal),
    });
  }

  /** Slots held by handlers whose attempt was settled without them. */
  get stuckSlots(): number {
    return this.#runner.stuckSlots;
  }

  /** Resolves once the scheduler knows this worker. */
  get registered(): Promise<void> {
    return this.#membership.known;
  }

  /** Slots in use. */
  get busySlots(): number {
    return this.#runner.slots.used;
  }

  /** Works until it is drained or stopped; resolves once it has left. Rejects only where it cannot run at all. */
  async run(): Promise<void> {
    this.#started = true;
    const { profile, log, pidNamespace = 'auto' } = this.#options;
    const folder = makeWorkFolder();
    try {
      await using launcher = profile.commands ? await openLauncher({ pidNamespace, folder, log }) : null;
      this.#launcher = launcher;
      if (launcher !== null) this.#runner.commands = commandExecutor({ launcher, output: this.#output, folder, log });
      await this.#membership.register(this.#draining.signal);
      if (this.#membership.isKnown) await this.#work();
    } finally {
      rmSync(folder, { recursive: true, force: true });
      this.#ended.resolve();
    }
  }

  /** No new work: what runs ends by itself or by its timeout, is reported, then the worker leaves. */
  async drain(): Promise<void> {
    this.#beginDraining();
    if (this.#started) await this.#ended.promise;
  }

  /** Like `drain`, but what runs is stopped and goes back to be run elsewhere. */
  async stop(): Promise<void> {
    this.#prefetch.returnAll();
    this.#runner.interrupt();
    await this.drain();
  }

  get #registered(): Registration {
    return this.#membership.current;
  }

  async #work(): Promise<void> {
    const { source, profile, clock, log } = this.#options;
    const leaving = this.#leaving.signal;
    const heartbeatMs = () => this.#registered.heartbeatMs;
    await using leaseKeeper =
      source.leaseKeeper === undefined || profile.handlers.length === 0
        ? undefined
        : new LeaseKeeper(source.leaseKeeper, heartbeatMs(), log);
    this.#leaseKeeper = leaseKeeper;
    const look = () => ({ workerId: this.#registered.workerId, longestMs: this.#runner.longestHandlerMs });
    const loops = [
      ...(leaseKeeper === undefined ? [] : [leaseKeeper.run(clock, look, leaving)]),
      this.#heartbeater.run(() => this.#registered, leaving),
      watchContact({ lease: this.#lease, clock, heartbeatMs, onCutOff: () => this.#cutOff() }, leaving),
    ];
    await this.#claimer.run(this.#draining.signal);
    await new Promise<void>((resolve) => {
      this.#onIdle = resolve;
      this.#checkIdle();
    });
    this.#leaving.abort(new Error('leaving'));
    await Promise.all(loops);
    await leaseKeeper?.[Symbol.asyncDispose]();
    this.#membership.stopNudges();
    try {
      if (this.#claimer.gaveUp) await this.#heartbeater.beat(ANSWER_MS, NEVER);
      await this.#membership.leave(NEVER);
    } catch (error) {
      log.warn({ error }, 'could not say good-bye; the lease will end by itself');
    }
    log.info({ worker_id: this.#registered.workerId }, 'the worker has left');
  }

  /** What was held under the old name can neither be kept nor reported. */
  async #registerAgain(signal: AbortSignal): Promise<void> {
    this.#options.log.warn(
      { worker_id: this.#registered.workerId, held: this.#held.size },
      'the scheduler forgot this worker',
    );
    for (const assignment of this.#held.all) this.#lose(assignment);
    await this.#membership.register(signal);
    this.#claimer.giveUp();
  }

  #request(): ClaimPlan | undefined {
    const { profile, claimWaitMs: longestMs = CLAIM_WAIT_MS } = this.#options;
    if (this.#settler.waiting > MAX_UNREPORTED || this.#lease.cutOffInMs <= 0) return undefined;
    const room = { profile, slots: this.#runner.slots, prefetch: this.#prefetch, longestMs };
    return planClaim(this.#registered.workerId, room);
  }

  /** After a long sleep an answer may be older than the lease that it gave. */
  #take(jobs: ClaimedJob[], { workerId, limit }: ClaimPlan): boolean {
    this.#prefetch.claimed(jobs.length, limit);
    if (workerId !== this.#registered.workerId || this.#lease.isOver) return false;
    const takenAt = performance.now();
    for (const job of jobs) {
      const assignment = new Assignment(job, workerId, takenAt);
      this.#held.add(assignment);
      if (job.prefetched) this.#prefetch.add(assignment);
      else this.#runner.run(assignment);
    }
    if (this.#draining.signal.aborted) this.#prefetch.returnAll();
    // In the next turn of the loop, so that the next claim is on its way before these keep the loop busy.
    setImmediate(() => {
      this.#fill();
      void this.#prefetch.shed(this.#leaving.signal);
    });
    return true;
  }

  /** Gives free slots to what waits here. Jobs may end while they are started, so this may be called from within itself. */
  #fill(): void {
    if (this.#filling) return;
    this.#filling = true;
    this.#prefetch.returnIfInDoubt();
    while (this.#runner.slots.free > 0) {
      const next = this.#prefetch.take();
      if (next === undefined) break;
      this.#runner.run(next);
    }
    this.#filling = false;
  }

  #beginDraining(): void {
    this.#draining.abort(new Error('draining'));
    this.#prefetch.returnAll();
  }

  #return(assignment: Assignment): void {
    assignment.ended = true;
    this.#settler.add(assignment, { type: 'returned' });
  }

  #report(assignment: Assignment, outcome: Outcome): void {
    if (assignment.job.command === null && assignment.startedAt !== null) this.#prefetch.consumed();
    this.#settler.add(assignment, outcome);
  }

  #freed(): void {
    this.#fill();
    if (this.#runner.slots.used === 0) this.#prefetch.rest();
    this.#claimer.nudge();
    this.#checkIdle();
  }

  #letGo(assignment: Assignment): void {
    this.#held.delete(assignment);
    this.#checkIdle();
  }

  #lose(assignment: Assignment): void {
    assignment.stop('lost');
    this.#prefetch.delete(assignment);
    this.#letGo(assignment);
  }

  #obey({ cancel, lost, drain }: HeartbeatOrders, sentAt: number): void {
    this.#renew(sentAt);
    this.#runner.startsTold();
    for (const lease of cancel) {
      const assignment = this.#held.find(lease);
      assignment?.stop('cancelled');
      if (assignment !== undefined && this.#prefetch.delete(assignment)) this.#return(assignment);
    }
    for (const lease of lost) {
      const assignment = this.#held.find(lease);
      // One whose report is on its way may be gone because that has arrived: its answer decides.
      if (assignment === undefined || assignment.ended) continue;
      this.#options.log.warn({ job_id: lease.jobId, attempt: lease.attempt }, 'a lease was lost; its job is stopped');
      this.#lose(assignment);
    }
    if (drain && !this.#draining.signal.aborted) {
      this.#options.log.info({ worker_id: this.#registered.workerId }, 'the worker was asked to drain');
      this.#beginDraining();
    }
  }

  #renew(sentAt: number): void {
    this.#lease.renew(sentAt, this.#registered.leaseMs);
    const { cutOffInMs: stopInMs, killInMs } = this.#lease;
    this.#launcher?.setDeadline({ stopInMs, killInMs });
    this.#claimer.nudge();
  }

  #cutOff(): void {
    this.#prefetch.returnAll();
    this.#runner.cutOff();
    // Somebody waits for this worker to go, and nobody is there to hear its reports.
    if (this.#draining.signal.aborted && this.#lease.isOver && this.#runner.isIdle) this.#settler.giveUp();
  }

  /** A handler that ignores its signal does not keep the worker from leaving. */
  #checkIdle(): void {
    if (this.#onIdle !== undefined && this.#held.size === 0 && this.#runner.isIdle) this.#onIdle();
  }
}
