/** Asks a job source for work, runs it, keeps its lease, reports. */

import { rmSync } from 'node:fs';
import type { Clock, Random } from '../core/clock.ts';
import { isWorkronError } from '../core/error.ts';
import type { ClaimedJob } from '../core/job.ts';
import { NEVER } from '../core/never.ts';
import type { Outcome } from '../core/outcome.ts';
import type { Log } from '../ops/log.ts';
import { Appetite } from './appetite.ts';
import { Assignment } from './assignment.ts';
import { Backlog } from './backlog.ts';
import { Claimer, type ClaimWish } from './claimer.ts';
import { commandExecutor } from './command-executor.ts';
import { passedOn } from './environment.ts';
import type { Executor } from './executor.ts';
import { type Handlers, handlerExecutor } from './handler-executor.ts';
import { Heartbeater } from './heartbeater.ts';
import type { BeatAnswer, JobSource, LeaseRef, Registration, WorkerProfile } from './job-source.ts';
import { Launcher, type LauncherOptions } from './launcher/launcher.ts';
import { Lease } from './lease.ts';
import { monotonicMs } from './monotonic.ts';
import { OutputWriter } from './output-writer.ts';
import { Patience } from './patience.ts';
import { Pulse } from './pulse.ts';
import { Reporter } from './reporter.ts';
import { Settler } from './settler.ts';
import { Slots } from './slots.ts';
import { sweepOrphans } from './sweep.ts';
import { within } from './within.ts';
import { makeWorkFolder } from './work-folder.ts';

const CLAIM_WAIT_MS = 20_000;
/** While some of its resources are taken. */
const SHORT_WAIT_MS = 1_000;
const ANSWER_MS = 10_000;
/** Jobs that one claim asks for ahead of their slots. */
const MOST_AHEAD_PER_CLAIM = 1_000;
/** What would wait here for longer than so many times what the slots consume in a window is better off elsewhere. */
const PATIENT_WINDOWS = 4;
const SHED_EVERY_MS = 500;
/** A lease is longer than this by far. */
const DOUBT_EVERY_MS = 100;
/** Outcomes that wait to be reported, beyond which no more work is asked for. */
const MOST_UNREPORTED = 10_000;

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
  readonly #slots: Slots;
  #pulse: Pulse | undefined;
  readonly #lease = new Lease(monotonicMs, () => this.#pulse?.renewedAt ?? 0);
  readonly #claimer: Claimer;
  readonly #heartbeater: Heartbeater;
  readonly #settler: Settler;
  readonly #output: OutputWriter;
  /** Leases that the scheduler must be told about. */
  readonly #held = new Map<number, Assignment>();
  /** What occupies a slot, by job: a lost attempt may still be stopping. */
  readonly #running = new Map<number, Assignment>();
  /** Claimed ahead; they are held, but have no slot. */
  readonly #backlog = new Backlog();
  readonly #appetite = new Appetite(() => performance.now());
  /** The last claim brought all that it asked for. */
  #moreWaits = false;
  /** Whose start the heartbeat under way tells. */
  #telling: Assignment[] = [];
  #filling = false;
  #shedding = false;
  /** By the wall clock, which a sleeping machine moves too. */
  #doubtedAt = 0;
  readonly #draining = new AbortController();
  readonly #leaving = new AbortController();
  readonly #ended = Promise.withResolvers<void>();
  readonly #known = Promise.withResolvers<void>();
  readonly #handlers: Executor;
  #commands: Executor | null = null;
  #launcher: Launcher | null = null;
  #registration: Registration | undefined;
  #stopNudges: (() => void) | undefined;
  #onIdle: (() => void) | undefined;
  #interrupted = false;
  #started = false;
  #stuckSlots = 0;

  constructor(options: WorkerOptions) {
    this.#options = options;
    const { source, profile, clock, random, log } = options;
    this.#slots = new Slots(profile);
    this.#output = new OutputWriter({ source, lease: this.#lease, clock, random, monotonicMs, log });
    this.#handlers = handlerExecutor(options.handlers ?? {}, this.#output, new Reporter(source, log));
    this.#settler = new Settler({ source, clock, random, log, onSettled: (assignment) => this.#letGo(assignment) });
    this.#claimer = new Claimer({
      source,
      clock,
      random,
      log,
      request: () => this.#request(),
      onJobs: (jobs, wish) => this.#take(jobs, wish),
    });
    this.#heartbeater = new Heartbeater({
      source,
      clock,
      random,
      log,
      monotonicMs,
      beat: () => ({
        workerId: this.#registered.workerId,
        leases: Array.from(this.#held.values(), ({ jobId, attempt }) => ({ jobId, attempt })),
        started: this.#startsToTell(),
        seenClaim: this.#claimer.seen,
      }),
      onAnswer: (answer, sentAt) => this.#hear(answer, sentAt),
      onForgotten: (signal) => this.#registerAgain(signal),
    });
  }

  /** Slots held by handlers whose attempt was settled without them. */
  get stuckSlots(): number {
    return this.#stuckSlots;
  }

  /** Resolves once the scheduler knows this worker. */
  get registered(): Promise<void> {
    return this.#known.promise;
  }

  /** Slots in use. */
  get busySlots(): number {
    return this.#slots.used;
  }

  /** Works until it is drained or stopped; resolves once it has left. Rejects only where it cannot run at all. */
  async run(): Promise<void> {
    this.#started = true;
    const { profile, log } = this.#options;
    const folder = makeWorkFolder();
    try {
      await using launcher = profile.commands ? await this.#openLauncher(folder) : null;
      this.#launcher = launcher;
      if (launcher !== null) this.#commands = commandExecutor({ launcher, output: this.#output, folder, log });
      await this.#register(this.#draining.signal);
      if (this.#registration !== undefined) await this.#work();
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
    this.#interrupted = true;
    this.#returnBacklog();
    for (const assignment of this.#running.values()) assignment.stop('interrupted');
    await this.drain();
  }

  get #registered(): Registration {
    if (this.#registration === undefined) throw new Error('not registered');
    return this.#registration;
  }

  async #openLauncher(folder: string): Promise<Launcher> {
    const { log, pidNamespace = 'auto' } = this.#options;
    const launcher = new Launcher({ pidNamespace, folder, env: passedOn(process.env), log });
    await sweepOrphans(log);
    await launcher.open();
    return launcher;
  }

  async #work(): Promise<void> {
    const { source, profile, log } = this.#options;
    const leaving = this.#leaving.signal;
    await using pulse =
      source.pulse === undefined || profile.handlers.length === 0
        ? undefined
        : new Pulse(source.pulse, this.#registered.heartbeatMs, log);
    this.#pulse = pulse;
    const loops = [
      ...(pulse === undefined ? [] : [this.#tellPulse(pulse, leaving)]),
      this.#heartbeater.run(() => this.#registered, leaving),
      this.#watchContact(leaving),
    ];
    await this.#claimer.run(this.#draining.signal);
    await new Promise<void>((resolve) => {
      this.#onIdle = resolve;
      this.#checkIdle();
    });
    this.#leaving.abort(new Error('leaving'));
    await Promise.all(loops);
    await pulse?.[Symbol.asyncDispose]();
    this.#stopNudges?.();
    try {
      if (this.#claimer.gaveUp) await this.#heartbeater.beat(ANSWER_MS, NEVER);
      await within(ANSWER_MS, NEVER, (signal) => source.leave(this.#registered.workerId, signal));
    } catch (error) {
      log.warn({ error }, 'could not say good-bye; the lease will end by itself');
    }
    log.info({ worker_id: this.#registered.workerId }, 'the worker has left');
  }

  /** Tries until it is answered or `signal` aborts. */
  async #register(signal: AbortSignal): Promise<void> {
    const { source, profile, clock, random, log } = this.#options;
    const patience = new Patience(random);
    while (!signal.aborted) {
      const sentAt = monotonicMs();
      try {
        const registration = await within(ANSWER_MS, signal, (inner) => source.register(profile, inner));
        this.#registration = registration;
        this.#known.resolve();
        this.#renew(sentAt);
        this.#stopNudges?.();
        this.#stopNudges = source.onNudge(registration.workerId, () => this.#heartbeater.nudge());
        log.info({ worker_id: registration.workerId, slots: profile.slots }, 'the worker has registered');
        return;
      } catch (error) {
        if (signal.aborted) return;
        // A wrong token, say: at the start somebody is there to put it right.
        if (this.#registration === undefined && isWorkronError(error) && !error.retryable) throw error;
        const waitMs = patience.failed();
        if (patience.isNew) log.warn({ error }, 'could not register; trying again');
        await clock.sleep(waitMs, signal);
      }
    }
  }

  /** What was held under the old name can neither be kept nor reported. */
  async #registerAgain(signal: AbortSignal): Promise<void> {
    this.#options.log.warn(
      { worker_id: this.#registered.workerId, held: this.#held.size },
      'the scheduler forgot this worker',
    );
    for (const assignment of this.#held.values()) this.#lose(assignment);
    await this.#register(signal);
    this.#claimer.giveUp();
  }

  #request(): ClaimWish | undefined {
    const { profile } = this.#options;
    if (this.#settler.waiting > MOST_UNREPORTED || this.#lease.cutOffInMs <= 0) return undefined;
    const { queues, commands, handlers, tags } = profile;
    const offer = { queues, commands, handlers, tags, free: this.#slots.freeResources() };
    const wish = { workerId: this.#registered.workerId, offer };
    const ahead = this.#wantedAhead();
    if (ahead > 0) return { ...wish, ahead: true, limit: ahead, waitMs: 0 };
    const limit = this.#backlog.size > 0 ? 0 : this.#slots.free;
    if (limit <= 0) return undefined;
    const longestMs = this.#options.claimWaitMs ?? CLAIM_WAIT_MS;
    // What comes free meanwhile is offered by the next claim only.
    const waitMs = this.#slots.isShort ? Math.min(longestMs, SHORT_WAIT_MS) : longestMs;
    return { ...wish, ahead: false, limit, waitMs };
  }

  /** How many more handlers' jobs to claim than there are slots for; only where that is worth a claim. */
  #wantedAhead(): number {
    if (!this.#moreWaits || this.#options.profile.handlers.length === 0) return 0;
    const wanted = this.#appetite.jobs;
    if (wanted <= this.#slots.total || this.#backlog.size > wanted / 2) return 0;
    return Math.min(wanted - this.#backlog.size, MOST_AHEAD_PER_CLAIM);
  }

  /** After a long sleep an answer may be older than the lease that it gave. */
  #take(jobs: ClaimedJob[], { workerId, limit }: ClaimWish): boolean {
    this.#moreWaits = jobs.length >= limit;
    if (workerId !== this.#registered.workerId || this.#lease.isOver) return false;
    const takenAt = performance.now();
    for (const job of jobs) {
      const assignment = new Assignment(job, workerId, takenAt);
      this.#held.set(job.id, assignment);
      if (job.ahead) this.#backlog.add(assignment);
      else this.#occupy(assignment);
    }
    if (this.#draining.signal.aborted) this.#returnBacklog();
    // In the next turn of the loop, so that the next claim is on its way before these keep the loop busy.
    setImmediate(() => {
      this.#fill();
      void this.#shed();
    });
    return true;
  }

  /** Gives free slots to what waits here. Jobs may end while they are started, so this may be called from within itself. */
  #fill(): void {
    if (this.#filling) return;
    this.#filling = true;
    if (this.#backlog.size > 0 && this.#isInDoubt()) this.#returnBacklog();
    while (this.#slots.free > 0) {
      const next = this.#backlog.take();
      if (next === undefined) break;
      this.#occupy(next);
    }
    this.#filling = false;
  }

  /** Whether others may have been given what waits here: after a long sleep, say. Asks for the exact time only now and then. */
  #isInDoubt(): boolean {
    const now = Date.now();
    if (Math.abs(now - this.#doubtedAt) < DOUBT_EVERY_MS) return false;
    this.#doubtedAt = now;
    return this.#lease.cutOffInMs <= 0;
  }

  #occupy(assignment: Assignment): void {
    this.#slots.take(assignment.job);
    const earlier = this.#running.get(assignment.jobId);
    if (earlier === undefined || earlier.ended) this.#start(assignment);
    // What is left of an earlier attempt must be gone before the next one starts.
    else earlier.afterwards = () => this.#start(assignment);
  }

  #beginDraining(): void {
    this.#draining.abort(new Error('draining'));
    this.#returnBacklog();
  }

  /** What has not started goes back at once. */
  #returnBacklog(): void {
    for (const assignment of this.#backlog.takeBeyond(0)) this.#return(assignment);
  }

  /** Handlers may have become slow: then others shall have what waits here behind them. */
  async #shed(): Promise<void> {
    if (this.#shedding) return;
    this.#shedding = true;
    while (this.#backlog.size > 0) {
      await this.#options.clock.sleep(SHED_EVERY_MS, this.#leaving.signal);
      const most = this.#appetite.jobs * PATIENT_WINDOWS;
      for (const assignment of this.#backlog.takeBeyond(most)) this.#return(assignment);
    }
    this.#shedding = false;
  }

  #return(assignment: Assignment): void {
    assignment.ended = true;
    this.#settler.add(assignment, { type: 'returned' });
  }

  #startsToTell(): (LeaseRef & { startedAt: number })[] {
    this.#telling = [...this.#running.values()].filter(({ startTold, ended }) => !startTold && !ended);
    return this.#telling.flatMap(({ jobId, attempt, startedAt }) =>
      startedAt === null ? [] : [{ jobId, attempt, startedAt }],
    );
  }

  #start(assignment: Assignment): void {
    const { job } = assignment;
    this.#running.set(job.id, assignment);
    if (this.#interrupted) assignment.stop('interrupted');
    const executor = job.command === null ? this.#handlers : this.#commands;
    if (assignment.stopped !== null || executor === null) return this.#finish(assignment, { type: 'returned' });
    if (job.command === null) {
      this.#appetite.begin();
      this.#pulse?.starting(longestMsOf(job));
    }
    assignment.begin(performance.now());
    const outcome = executor.run(assignment);
    if (!(outcome instanceof Promise)) return this.#finish(assignment, outcome);
    outcome.then(
      (value) => this.#finish(assignment, value),
      (error: unknown) => {
        this.#options.log.error({ job_id: job.id, error }, 'running a job failed in an unexpected way');
        this.#finish(assignment, {
          type: 'failed',
          exitCode: null,
          signal: null,
          error: `worker error: ${String(error)}`,
        });
      },
    );
  }

  #finish(assignment: Assignment, outcome: Outcome): void {
    assignment.ended = true;
    if (assignment.job.command === null && assignment.startedAt !== null) this.#appetite.consumed();
    this.#settler.add(assignment, outcome);
    const { stillBusy } = assignment;
    if (stillBusy === undefined) return this.#free(assignment);
    this.#stuckSlots += 1;
    void stillBusy.finally(() => {
      this.#stuckSlots -= 1;
      this.#free(assignment);
    });
  }

  #free(assignment: Assignment): void {
    if (this.#running.get(assignment.jobId) === assignment) this.#running.delete(assignment.jobId);
    this.#slots.giveBack(assignment.job);
    assignment.afterwards?.();
    this.#fill();
    if (this.#slots.used === 0 && this.#backlog.size === 0) this.#appetite.rest();
    this.#claimer.nudge();
    this.#checkIdle();
  }

  #letGo(assignment: Assignment): void {
    if (this.#held.get(assignment.jobId) === assignment) this.#held.delete(assignment.jobId);
    this.#checkIdle();
  }

  #lose(assignment: Assignment): void {
    assignment.stop('lost');
    this.#backlog.delete(assignment);
    this.#letGo(assignment);
  }

  #hear(answer: BeatAnswer, sentAt: number): void {
    this.#renew(sentAt);
    for (const assignment of this.#telling) assignment.startTold = assignment.startedAt !== null;
    for (const lease of answer.cancel) {
      const assignment = this.#holding(lease);
      assignment?.stop('cancelled');
      if (assignment !== undefined && this.#backlog.delete(assignment)) this.#return(assignment);
    }
    for (const lease of answer.lost) {
      const assignment = this.#holding(lease);
      // One whose report is on its way may be gone because that has arrived: its answer decides.
      if (assignment === undefined || assignment.ended) continue;
      this.#options.log.warn({ job_id: lease.jobId, attempt: lease.attempt }, 'a lease was lost; its job is stopped');
      this.#lose(assignment);
    }
    if (answer.drain && !this.#draining.signal.aborted) {
      this.#options.log.info({ worker_id: this.#registered.workerId }, 'the worker was asked to drain');
      this.#beginDraining();
    }
  }

  #holding({ jobId, attempt }: LeaseRef): Assignment | undefined {
    const assignment = this.#held.get(jobId);
    return assignment?.attempt === attempt ? assignment : undefined;
  }

  #renew(sentAt: number): void {
    this.#lease.renew(sentAt, this.#registered.leaseMs);
    const { cutOffInMs: stopInMs, killInMs } = this.#lease;
    this.#launcher?.setDeadline({ stopInMs, killInMs });
    this.#claimer.nudge();
  }

  /** Without an answered heartbeat for too long, what runs must be gone before the lease is. */
  async #watchContact(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#options;
    let dueAt = monotonicMs();
    while (!signal.aborted) {
      const { heartbeatMs } = this.#registered;
      const leftMs = this.#lease.cutOffInMs;
      // Whoever was kept from looking was kept from asking too: only an answer that does not come now is a sign.
      const late = monotonicMs() - dueAt > heartbeatMs / 2;
      if (leftMs <= 0 && !late) this.#cutOff(log);
      const waitMs = leftMs > 0 ? leftMs : heartbeatMs;
      dueAt = monotonicMs() + waitMs;
      await clock.sleep(waitMs, signal);
    }
  }

  /** Says that the loop turns, and for how long it may stand still if it does. */
  async #tellPulse(pulse: Pulse, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const handlers = this.#running.values().filter(({ ended, job }) => !ended && job.command === null);
      const longestMs = handlers.reduce((longest, { job }) => Math.max(longest, longestMsOf(job)), 0);
      pulse.alive(this.#registered.workerId, longestMs);
      await this.#options.clock.sleep(pulse.aliveEveryMs, signal);
    }
  }

  #cutOff(log: Log): void {
    this.#returnBacklog();
    for (const assignment of this.#running.values()) {
      if (assignment.stopped !== null || assignment.ended || assignment.job.onDisconnect === 'finish') continue;
      log.warn({ job_id: assignment.jobId }, 'contact is lost; the job is stopped before its lease ends');
      assignment.stop('cut_off');
    }
    // Somebody waits for this worker to go, and nobody is there to hear its reports.
    if (this.#draining.signal.aborted && this.#lease.isOver && this.#nothingRuns()) this.#settler.giveUp();
  }

  #nothingRuns(): boolean {
    return this.#running.values().every(({ ended }) => ended);
  }

  /** A handler that ignores its signal does not keep the worker from leaving. */
  #checkIdle(): void {
    if (this.#onIdle !== undefined && this.#held.size === 0 && this.#nothingRuns()) this.#onIdle();
  }
}

/** How long one attempt may take, with the time to stop. */
function longestMsOf({ timeoutMs, killGraceMs }: ClaimedJob): number {
  return timeoutMs + killGraceMs;
}
