/** Watches the store and the attempts that run, and knows what must never happen. */

import type { Attempt } from '../../src/core/attempt-end.ts';
import { type ClaimedJob, isTerminal, isWaiting, type Job, type NewJob } from '../../src/core/job.ts';
import { NEVER } from '../../src/core/never.ts';
import type { Settlement } from '../../src/core/outcome.ts';
import type { Healed } from '../../src/store/duty-store.ts';
import type { Inserted, InsertedAndClaimed } from '../../src/store/job-store.ts';
import type { Store } from '../../src/store/store.ts';
import { Executions } from './executions.ts';
import { awaitsRecord, checkCharge, checkEnds, checkPlaces } from './witness-gangs.ts';
import { checkHealed, checkLimits, checkRates } from './witness-meters.ts';
import { checkSchedules } from './witness-schedules.ts';

export class Violation extends Error {
  readonly rule: string;

  constructor(rule: string, message: string) {
    super(message);
    this.rule = rule;
  }
}

export interface Known {
  job: Job;
  records: readonly Attempt[];
  /** The number of records before a person's last retry, or before another job replaced it. */
  forgiven: number;
  /** The number of records before another job replaced it. */
  replaced: number;
}

export interface WitnessOptions {
  store: Store;
  /** True if this worker lives, and neither it nor its network had a fault in the last leases. */
  wasWell: (workerId: number) => boolean;
  /** True if the store's clock was set, so that instants by it cannot be compared. */
  clockWasSet: () => boolean;
}

export class Witness {
  readonly executions: Executions;
  readonly #options: WitnessOptions;
  readonly #known = new Map<number, Known>();
  readonly #changed = new Set<number>();
  /** Jobs that a person has retried, sooner or later. */
  readonly #retried = new Set<number>();
  /** Jobs that a submission has replaced in the call that is looked at. */
  readonly #replaced = new Set<number>();
  /** Ids that a client was told. */
  readonly #acknowledged = new Map<number, string>();
  /** Attempts that were prefetched: `job/attempt`. */
  readonly #prefetched = new Set<string>();
  readonly #idempotent = new Set<string>();
  readonly #policies = new Map<string, string>();
  violation: Violation | undefined;

  constructor(options: WitnessOptions) {
    this.#options = options;
    this.executions = new Executions({
      fail: (violation) => (this.violation ??= violation),
      knownAs: (id) => this.#known.get(id),
      wasRetried: (id) => this.#retried.has(id),
    });
    options.store.subscribe((hint) => {
      if (hint.topic === 'jobs') for (const id of hint.ids) this.#changed.add(id);
    });
  }

  /** A client was told that this job is stored. */
  acknowledged(id: number, token: string): void {
    this.#acknowledged.set(id, token);
  }

  /** A client sends this submission with an idempotency key. */
  idempotent(token: string): void {
    this.#idempotent.add(token);
  }

  /** The token that a client gave a job, or the schedule that made it. */
  tokenOf(id: number): string {
    const { job } = this.#known.get(id) as Known;
    return job.tick === null ? (job.name?.split(' ')[0] ?? '') : `${job.tick.schedule} ${job.tick.scheduledFor}`;
  }

  /** True if a worker without contact lets this job finish. */
  finishes(id: number): boolean {
    return this.#known.get(id)?.job.onDisconnect === 'finish';
  }

  /** A person may have retried this job. */
  retried(id: number): void {
    this.#retried.add(id);
  }

  scheduled(name: string, policy: string): void {
    this.#policies.set(name, policy);
  }

  /** Called after each call at the store; `answer` is `undefined` if the call was refused. */
  async called(name: string, args: readonly unknown[], answer: unknown): Promise<void> {
    try {
      const claimed = claimedBy(name, answer);
      if (answer !== undefined && (name === 'insert' || name === 'insertAndClaim'))
        this.#checkInserted(args, answer as Inserted);
      if (answer !== undefined && name === 'healParkings') checkHealed(answer as Healed, this.#fail);
      for (const { id, attempt, prefetched } of claimed) {
        if (prefetched) this.#prefetched.add(`${id}/${attempt}`);
        this.#changed.add(id);
      }
      await this.#look();
      if (claimed.length > 0) await this.#checkQueues(claimed);
      const jobs = claimed.flatMap(({ id }) => this.#known.get(id)?.job ?? []);
      checkLimits(jobs, this.#known.values(), this.#fail);
      if (claimed.length > 0) await this.#checkClaimer(claimed);
      if (claimed.some(({ gang }) => gang !== null))
        checkPlaces(claimed, await this.#options.store.places(NEVER), this.#fail);
      if (name === 'tick' || name === 'runSchedule' || name === 'changeSchedule') {
        await checkSchedules(this.#options.store, this.#policies, this.#fail);
      }
    } catch (error) {
      if (!(error instanceof Violation)) throw error;
      this.violation ??= error;
    }
  }

  /** A scheduler has answered a worker's report. */
  async settled(settlements: readonly Settlement[], answers: readonly string[]): Promise<void> {
    const { store } = this.#options;
    for (const [index, { jobId, attempt, workerId, outcome }] of settlements.entries()) {
      const records = await store.attempts(jobId, NEVER);
      const record = records.find((one) => one.attempt === attempt && one.workerId === workerId);
      const expected = OUTCOME_OF[outcome.type];
      const same = record?.outcome === expected;
      const isStopped = record?.outcome === 'cancelled' || record?.outcome === 'stopped';
      const [job] = await store.read([jobId], NEVER);
      const isHeld = job !== undefined && job.attempt === attempt && awaitsRecord(job, records);
      const counts = same || isHeld || (isStopped && outcome.type !== 'succeeded');
      if (answers[index] === 'ok' && !counts) {
        this.#note(
          'one outcome',
          `job ${jobId}/${attempt}: ${expected} was accepted, but the record says ${record?.outcome}`,
        );
      }
      if (answers[index] === 'lease_lost' && same) {
        this.#note('one outcome', `job ${jobId}/${attempt}: ${expected} is recorded, but its report was refused`);
      }
    }
  }

  /** At the end, long after the last fault: all work that was acknowledged is there, and nothing waits. */
  async checkEnd(): Promise<void> {
    const { store } = this.#options;
    for (const [id, token] of this.#acknowledged) {
      const [job] = await store.read([id], NEVER);
      if (job === undefined) this.#note('never lost', `job ${id} (${token}) was acknowledged and is not there`);
    }
    const once = new Set<string>();
    for (const job of await store.list({}, { before: null, limit: 1_000_000 }, NEVER)) {
      const token = this.tokenOf(job.id);
      if (this.#idempotent.has(token) && once.has(token))
        this.#note('idempotent submissions', `${token} was stored twice`);
      once.add(token);
      if (!isTerminal(job.status))
        this.#note('nothing waits forever', `job ${job.id} (${job.name}) is still ${job.status}`);
    }
    const jobs = [...this.#known.values()].map(({ job }) => job);
    checkEnds(jobs, (rule, message) => this.#note(rule, message));
    if (!this.#options.clockWasSet()) checkRates(this.#known.values(), (rule, message) => this.#note(rule, message));
    await checkSchedules(store, this.#policies, this.#fail).catch((error: unknown) => {
      if (!(error instanceof Violation)) throw error;
      this.violation ??= error;
    });
  }

  /** The number of attempts that have ended. */
  get progress(): number {
    return this.#known.values().reduce((sum, { records }) => sum + records.length, 0);
  }

  get unfinished(): boolean {
    return this.#known.values().some(({ job }) => !isTerminal(job.status));
  }

  readonly #fail = (rule: string, message: string): never => {
    throw new Violation(rule, message);
  };

  #note(rule: string, message: string): void {
    this.violation ??= new Violation(rule, message);
  }

  async #look(): Promise<void> {
    // Hints are announced in a microtask of their own.
    await Promise.resolve();
    if (this.#changed.size === 0) return;
    const ids = [...this.#changed];
    this.#changed.clear();
    for (const job of await this.#options.store.read(ids, NEVER)) {
      const records = await this.#options.store.attempts(job.id, NEVER);
      const before = this.#known.get(job.id);
      const known = { job, records, ...this.#baselines(before, job) };
      this.#known.set(job.id, known);
      this.#checkStep(before, known);
      await this.#checkRecords(before?.records ?? [], known);
      this.#checkBudget(known);
    }
    this.#checkUnique();
  }

  /** A retry and a replacement reset what the job has used of its budget. */
  #baselines(before: Known | undefined, job: Job): Pick<Known, 'forgiven' | 'replaced'> {
    if (before === undefined) return { forgiven: 0, replaced: 0 };
    const count = before.records.length;
    if (this.#replaced.delete(job.id)) return { forgiven: count, replaced: count };
    const reopened = isTerminal(before.job.status) && !isTerminal(job.status) && this.#mayReopen(job);
    return { forgiven: reopened ? count : before.forgiven, replaced: before.replaced };
  }

  #mayReopen(job: Job): boolean {
    if (this.#retried.has(job.id)) return true;
    const parents = job.dependsOn.flatMap(({ jobId }) => this.#known.get(jobId)?.job ?? []);
    return parents.some((parent) => this.#mayReopen(parent));
  }

  #checkStep(before: Known | undefined, { job, records }: Known): void {
    const from = before?.job;
    const attempt = from?.attempt ?? 0;
    const isClaim = job.status === 'running' && (from?.status !== 'running' || job.attempt !== attempt);
    if (job.attempt !== attempt + (isClaim ? 1 : 0)) {
      this.#fail(
        'attempts count',
        `job ${job.id} went from ${from?.status} ${attempt} to ${job.status} ${job.attempt}`,
      );
    }
    if (from === undefined) return;
    if (isTerminal(from.status) && job.status !== from.status && !(this.#mayReopen(job) && from.status !== 'done')) {
      this.#fail('an end is final', `job ${job.id} was ${from.status} and is ${job.status}`);
    }
    if (from.cancelRequestedAt !== null && !from.gangStop && from.status === 'running' && job.status !== 'running') {
      if (job.status !== 'done' && job.status !== 'cancelled' && !awaitsRecord(job, records)) {
        this.#fail('cancel holds', `job ${job.id} was asked to stop and is ${job.status}`);
      }
    }
  }

  /** Every claim has exactly one record, which never changes. */
  async #checkRecords(before: readonly Attempt[], { job, records }: Known): Promise<void> {
    const ended = job.status === 'running' || awaitsRecord(job, records) ? job.attempt - 1 : job.attempt;
    if (records.length !== ended || records.some(({ attempt }, index) => attempt !== index + 1)) {
      const listed = records.map(({ attempt, outcome }) => `${attempt} ${outcome}`).join(', ');
      this.#fail(
        'one outcome',
        `job ${job.id} is ${job.status} at attempt ${job.attempt} with records ${listed || 'none'}`,
      );
    }
    before.forEach((record, index) => {
      if (record.outcome !== records[index]?.outcome || record.workerId !== records[index]?.workerId) {
        this.#fail(
          'one outcome',
          `job ${job.id}/${record.attempt} was ${record.outcome} and is ${records[index]?.outcome}`,
        );
      }
    });
    for (const record of records.slice(before.length)) {
      this.#checkRecord(job, record);
      if (record.outcome === 'lost') await this.#checkSilence(job, record);
    }
  }

  /** A worker that was heard within its lease keeps its jobs, unless it is known to be dead. */
  async #checkSilence(job: Job, { attempt, workerId, endedAt }: Attempt): Promise<void> {
    const worker = (await this.#options.store.workers(NEVER)).find(({ id }) => id === workerId);
    if (worker === undefined || worker.attachment === 'local' || this.#options.clockWasSet()) return;
    if (endedAt - worker.seenAt > worker.leaseMs) return;
    this.#fail(
      'live workers keep their jobs',
      `job ${job.id}/${attempt} is lost, but worker ${workerId} was heard within its lease`,
    );
  }

  #checkRecord(job: Job, { attempt, outcome, workerId }: Attempt): void {
    const ran = this.executions.find(job.id, attempt);
    const about = `job ${job.id}/${attempt} is recorded as ${outcome}`;
    if (outcome === 'done' && ran?.end !== 'success')
      this.#fail('true outcomes', `${about}; it ended as ${ran?.end ?? 'never started'}`);
    if (outcome === 'failed' && ran?.end !== 'failure')
      this.#fail('true outcomes', `${about}; it ended as ${ran?.end ?? 'never started'}`);
    if (outcome === 'returned' && ran !== undefined && !this.#prefetched.has(`${job.id}/${attempt}`)) {
      this.#fail('started work is not given back', `${about}, but it had started`);
    }
    if (outcome === 'lost' && workerId !== null && this.#options.wasWell(workerId)) {
      this.#fail('live workers keep their jobs', `${about}, but worker ${workerId} was alive and reachable`);
    }
  }

  #checkBudget({ job, records, forgiven, replaced }: Known): void {
    const count = (outcomes: readonly string[], from: number) =>
      records.slice(from).filter(({ outcome }) => outcomes.includes(outcome)).length;
    const failures = count(['failed', 'timeout', 'lost'], forgiven);
    const interruptions = count(['interrupted'], replaced);
    if (job.gang !== null) checkCharge(job, { failures, interruptions }, this.#fail);
    else if (interruptions <= 10 && (job.failures !== failures || job.interruptions !== interruptions)) {
      this.#fail(
        'exact budget',
        `job ${job.id} counts ${job.failures} failures and ${job.interruptions} interruptions; its records have ${failures} and ${interruptions}`,
      );
    }
    const started = records.slice(forgiven).some(({ outcome }) => outcome !== 'returned');
    if (isWaiting(job.status) && (job.failures >= job.maxAttempts || (job.rerun === 'never' && started))) {
      this.#fail(
        'exact budget',
        `job ${job.id} (rerun ${job.rerun}) waits again after ${job.failures} failures of ${job.maxAttempts}`,
      );
    }
  }

  /** `active`: one unfinished job per key. `pending`: one that was never claimed. */
  #checkUnique(): void {
    const holders = new Map<string, number>();
    for (const { job } of this.#known.values()) {
      const key = keyOf(job);
      if (key === null) continue;
      const holds = key.startsWith('pending')
        ? isWaiting(job.status) && job.attempt === 0
        : !isTerminal(job.status) && job.attempt >= 0;
      if (!holds || this.#known.get(job.id)?.forgiven !== 0) continue;
      const other = holders.get(key);
      if (other !== undefined) this.#fail('unique keys', `jobs ${other} and ${job.id} both hold ${key}`);
      holders.set(key, job.id);
    }
  }

  /** A key that was let go does not keep others away. A repeated answer tells what was so at the first one. */
  #checkInserted([jobs]: readonly unknown[], { items, replayed }: Inserted): void {
    for (const { job } of items) this.#changed.add(job.id);
    if (replayed) return;
    for (const [index, { job, deduplicated }] of items.entries()) {
      if (!deduplicated) continue;
      const wanted = (jobs as NewJob[])[index];
      const before = this.#known.get(job.id)?.job.status;
      if (wanted?.unique?.onConflict === 'replace' && before !== undefined && isWaiting(before))
        this.#replaced.add(job.id);
      const claimedSince = job.attempt > (this.#known.get(job.id)?.replaced ?? 0);
      if (keyOf(job)?.startsWith('pending') && claimedSince && !this.#replaced.has(job.id)) {
        this.#fail('unique keys', `job ${job.id} was claimed and still holds ${wanted?.unique?.key}`);
      }
      if (isTerminal(job.status) && wanted?.unique?.onConflict !== 'replace') {
        this.#fail('unique keys', `job ${job.id} is ${job.status} and still holds ${wanted?.unique?.key}`);
      }
    }
  }

  async #checkClaimer(claimed: readonly ClaimedJob[]): Promise<void> {
    const workers = await this.#options.store.workers(NEVER);
    for (const { id } of claimed) {
      const worker = workers.find((one) => one.id === this.#known.get(id)?.job.workerId);
      if (worker?.state === 'draining')
        this.#fail('a draining worker gets nothing', `job ${id} was given to worker ${worker.id}`);
    }
  }

  /** A claim takes nothing from a paused queue, and leaves none above its limit. */
  async #checkQueues(claimed: readonly ClaimedJob[]): Promise<void> {
    const queues = new Set(claimed.map(({ queue }) => queue));
    for (const { name, running, maxRunning, paused } of await this.#options.store.queues(NEVER)) {
      if (!queues.has(name)) continue;
      if (maxRunning !== null && running > maxRunning)
        this.#fail('exact limits', `queue ${name} runs ${running} jobs of ${maxRunning}`);
      if (paused) this.#fail('exact limits', `a job of the paused queue ${name} was claimed`);
    }
  }
}

function claimedBy(name: string, answer: unknown): readonly ClaimedJob[] {
  if (answer === undefined) return [];
  if (name === 'claim') return answer as ClaimedJob[];
  return name === 'insertAndClaim' ? (answer as InsertedAndClaimed).claimed : [];
}

/** The key that a job was submitted with is part of its name: the store does not show it. */
function keyOf({ name, tick }: Job): string | null {
  if (tick !== null) return null;
  return name?.split(' ')[1]?.replace('=', ' ') ?? null;
}

const OUTCOME_OF = {
  succeeded: 'done',
  failed: 'failed',
  timed_out: 'timeout',
  interrupted: 'interrupted',
  snoozed: 'snoozed',
  suspended: 'suspended',
  cancelled: 'cancelled',
  returned: 'returned',
} as const;
