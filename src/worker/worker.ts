/** A worker: claims jobs from a job source, runs them, keeps their leases and reports their outcomes. */

import type { Clock, Random } from '../core/clock.ts';
import type { ClaimedJob } from '../core/job.ts';
import type { HeartbeatOrders } from '../core/lease.ts';
import { NEVER } from '../core/never.ts';
import type { Outcome } from '../core/outcome.ts';
import type { Log } from '../ops/log.ts';
import { monotonicMs } from '../ops/monotonic.ts';
import { Alone } from './claim/alone.ts';
import { type ClaimPlan, planClaim } from './claim/claim-plan.ts';
import { Claimer } from './claim/claimer.ts';
import { Drain } from './claim/drain.ts';
import { Prefetch } from './claim/prefetch.ts';
import { commandExecutor } from './command/command-executor.ts';
import { DEFAULT_ISOLATION, type Isolation } from './command/isolation.ts';
import type { JobSource, WorkerProfile } from './job-source.ts';
import { type CommandLauncher, openLauncher } from './launcher/launchers.ts';
import { WorkFolder } from './launcher/work-folder.ts';
import { Heartbeater } from './lease/heartbeater.ts';
import { Lease, watchContact } from './lease/lease.ts';
import { LeaseKeeper } from './lease/lease-keeper.ts';
import { Membership } from './lease/membership.ts';
import { OutputWriter } from './report/output-writer.ts';
import { Reporter } from './report/reporter.ts';
import { Settler } from './report/settler.ts';
import { Assignment, HeldAssignments } from './run/assignment.ts';
import { type Handlers, handlerExecutor } from './run/handler-executor.ts';
import { longestMsOf, Runner } from './run/runner.ts';

const CLAIM_WAIT_MS = 20_000;
const ANSWER_MS = 10_000;
/** While more outcomes than this wait to be reported, the worker claims no jobs. */
const MAX_UNREPORTED = 10_000;

export interface WorkerOptions {
  source: JobSource;
  profile: WorkerProfile;
  clock: Clock;
  random: Random;
  log: Log;
  /** Functions by name; `profile.handlers` lists those that the worker offers. */
  handlers?: Handlers;
  isolation?: Isolation;
  /** Opens the launcher of the commands: by default a process of its own. */
  launch?: (options: Parameters<typeof openLauncher>[0]) => Promise<CommandLauncher>;
  /** How long one claim waits for work. */
  claimWaitMs?: number;
  /** True if a worker that was asked to drain stays until it may take jobs again, because its process goes on. */
  staysDrained?: boolean;
}

export class Worker {
  readonly #options: WorkerOptions;
  #leaseKeeper: LeaseKeeper | undefined;
  readonly #lease = new Lease(monotonicMs, () => this.#leaseKeeper?.renewedAt ?? 0);
  readonly #membership: Membership;
  readonly #claimer: Claimer;
  readonly #heartbeater: Heartbeater;
  readonly #settler: Settler;
  readonly #reports: Parameters<typeof handlerExecutor>[1];
  readonly #runner: Runner;
  readonly #prefetch: Prefetch;
  readonly #held = new HeldAssignments();
  readonly #alone = new Alone(this.#held);
  readonly #drain: Drain;
  readonly #leaving = new AbortController();
  readonly #ended = Promise.withResolvers<void>();
  #launcher: CommandLauncher | null = null;
  #started = false;

  constructor(options: WorkerOptions) {
    this.#options = options;
    const { source, profile, clock, random, log } = options;
    const common = { source, clock, random, log };
    // A handler that ignores its signal does not keep the worker from leaving.
    const isIdle = () => this.#held.size === 0 && this.#runner.isIdle;
    this.#drain = new Drain({ stays: options.staysDrained ?? false, isIdle });
    const output = new OutputWriter({ ...common, lease: this.#lease, monotonicMs });
    this.#reports = { ...common, output, reporter: new Reporter(source, log) };
    this.#runner = new Runner({
      profile,
      handlers: handlerExecutor(options.handlers ?? {}, this.#reports),
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
      onRegistered: (sentAt) => {
        this.#launcher?.setGone(source.gone?.(this.#membership.current.workerId) ?? null);
        this.#renew(sentAt);
      },
      onNudge: () => this.#heartbeater.wake(),
    });
    this.#settler = new Settler({ ...common, onSettled: (assignment) => this.#release(assignment) });
    this.#claimer = new Claimer({
      ...common,
      request: () => this.#planClaim(),
      onJobs: (jobs, plan) => this.#take(jobs, plan),
      isOutdated: ({ offer }) => this.#runner.slots.exceed(offer.free),
    });
    this.#heartbeater = new Heartbeater({
      ...common,
      monotonicMs,
      heartbeat: () => ({
        workerId: this.#membership.current.workerId,
        leases: this.#held.leases(),
        started: this.#runner.unreportedStarts(),
        seenClaim: this.#claimer.lastAnsweredClaim,
      }),
      onOrders: (orders, sentAt) => this.#obey(orders, sentAt),
      onForgotten: (signal) => this.#registerAgain(signal),
    });
  }

  /** Slots held by handlers whose attempt was settled without them. */
  get stuckSlots(): number {
    return this.#runner.stuckSlots;
  }

  /** Resolves once the worker is registered. */
  get registered(): Promise<void> {
    return this.#membership.known;
  }

  get busySlots(): number {
    return this.#runner.slots.used;
  }

  /** Works until it leaves, and resolves then. Rejects only if it cannot run at all. */
  async run(): Promise<void> {
    this.#started = true;
    const { profile, log, isolation = DEFAULT_ISOLATION, launch = openLauncher } = this.#options;
    using folder = new WorkFolder(isolation.user);
    try {
      await using launcher = profile.commands ? await launch({ isolation, folder, log }) : null;
      this.#launcher = launcher;
      if (launcher !== null) {
        this.#runner.commands = commandExecutor({ launcher, ...this.#reports, folder, isolation, log });
      }
      await this.#membership.register(this.#drain.signal);
      if (this.#membership.isKnown) await this.#work();
    } finally {
      this.#ended.resolve();
    }
  }

  /** Claims no more jobs, waits for running ones to end or time out, reports them and leaves. */
  async drain(): Promise<void> {
    this.#drain.leave();
    this.#prefetch.returnAll();
    if (this.#started) await this.#ended.promise;
  }

  /** Drains, but stops running jobs and returns them, so that other workers can run them. */
  async stop(): Promise<void> {
    this.#prefetch.returnAll();
    this.#runner.interrupt();
    await this.drain();
  }

  async #work(): Promise<void> {
    const { source, profile, clock, log } = this.#options;
    const leaving = this.#leaving.signal;
    const heartbeatMs = () => this.#membership.current.heartbeatMs;
    await using leaseKeeper =
      source.leaseKeeper === undefined || profile.handlers.length === 0
        ? undefined
        : await LeaseKeeper.open(source.leaseKeeper, heartbeatMs(), log);
    this.#leaseKeeper = leaseKeeper;
    const current = () => ({ workerId: this.#membership.current.workerId, longestMs: this.#runner.longestHandlerMs });
    const loops = [
      ...(leaseKeeper === undefined ? [] : [leaseKeeper.run(clock, current, leaving)]),
      this.#heartbeater.run(() => this.#membership.current, leaving),
      watchContact({ lease: this.#lease, clock, heartbeatMs, onCutOff: () => this.#cutOff() }, leaving),
    ];
    do {
      await this.#claimer.run(this.#drain.signal);
      await this.#drain.over();
    } while (!this.#drain.isOn);
    this.#leaving.abort(new Error('leaving'));
    await Promise.all(loops);
    await leaseKeeper?.[Symbol.asyncDispose]();
    // Returns the jobs of claims that were given up, but no attempt whose outcome was dropped: that one has run.
    const returns = this.#claimer.gaveUp && !this.#settler.gaveUp;
    await this.#membership.leave(returns ? () => this.#heartbeater.beat(ANSWER_MS, NEVER) : undefined);
  }

  /** Jobs held under the old id can neither be kept nor reported. */
  async #registerAgain(signal: AbortSignal): Promise<void> {
    const { workerId } = this.#membership.current;
    this.#options.log.warn({ worker_id: workerId, held: this.#held.size }, 'scheduler does not know this worker');
    for (const assignment of this.#held.all) this.#lose(assignment);
    await this.#membership.register(signal);
    this.#claimer.giveUp();
  }

  #planClaim(): ClaimPlan | undefined {
    const [{ profile, claimWaitMs = CLAIM_WAIT_MS }, { cutOffInMs }] = [this.#options, this.#lease];
    if (this.#settler.waiting > MAX_UNREPORTED || cutOffInMs <= 0 || this.#alone.isOn) return undefined;
    const maxWaitMs = Math.floor(Math.min(claimWaitMs, cutOffInMs));
    const capacity = { profile, slots: this.#runner.slots, prefetch: this.#prefetch, maxWaitMs };
    return planClaim(this.#membership.current.workerId, capacity);
  }

  /** Refuses jobs whose lease has expired: the machine may have slept while the answer was on its way. */
  #take(jobs: ClaimedJob[], { workerId, limit }: ClaimPlan): boolean {
    this.#prefetch.claimed(jobs.length, limit);
    if (workerId !== this.#membership.current.workerId || this.#lease.isOver) return false;
    const [{ clock }, takenAt] = [this.#options, performance.now()];
    for (const job of jobs) {
      const assignment = new Assignment(job, workerId, takenAt);
      const lost = this.#held.add(assignment);
      if (lost !== undefined) this.#lose(lost);
      if (job.prefetched) this.#prefetch.add(assignment);
      else if (job.suspect) void this.#alone.run(assignment, this.#runner, clock).then(() => this.#freed());
      else this.#runner.run(assignment);
    }
    if (this.#drain.isOn) this.#prefetch.returnAll();
    // In the next turn of the event loop, so that the next claim is sent before these jobs block the loop.
    setImmediate(() => {
      this.#freed();
      void this.#prefetch.shed(this.#leaving.signal);
    });
    return true;
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
    this.#prefetch.fill(this.#runner);
    if (this.#runner.slots.used === 0) this.#prefetch.rest();
    this.#claimer.wake();
    this.#drain.check();
  }

  #release(assignment: Assignment): void {
    this.#held.delete(assignment);
    this.#drain.check();
  }

  #lose(assignment: Assignment): void {
    assignment.stop('lost');
    this.#prefetch.delete(assignment);
    this.#release(assignment);
  }

  #obey({ cancel, lost, drain }: HeartbeatOrders, sentAt: number): void {
    this.#renew(sentAt);
    this.#runner.startsReported();
    for (const lease of cancel) {
      const assignment = this.#held.find(lease);
      assignment?.stop('cancelled');
      if (assignment !== undefined && this.#prefetch.delete(assignment)) this.#return(assignment);
    }
    for (const lease of lost) {
      const assignment = this.#held.find(lease);
      // If its outcome is on its way, the lease may be gone because the outcome arrived: the answer to that decides.
      if (assignment === undefined || assignment.ended) continue;
      this.#options.log.warn({ job_id: lease.jobId, attempt: lease.attempt }, 'lease lost; stopping the job');
      this.#lose(assignment);
    }
    if (!this.#drain.obey(drain)) return;
    const { workerId } = this.#membership.current;
    this.#options.log.info({ worker_id: workerId }, `worker was asked to ${drain ? 'drain' : 'take jobs again'}`);
    if (drain) this.#prefetch.returnAll();
  }

  #renew(sentAt: number): void {
    this.#lease.renew(sentAt, this.#membership.current.leaseMs);
    this.#launcher?.setDeadline({ stopInMs: this.#lease.cutOffInMs, killInMs: this.#lease.killInMs });
    this.#claimer.wake();
  }

  #cutOff(): void {
    this.#prefetch.returnAll();
    this.#runner.cutOff();
    // The process waits for this worker to leave, and no scheduler can be reached to take its reports.
    if (this.#drain.leaves && this.#lease.isOver && this.#runner.isIdle) this.#settler.giveUp();
  }
}
