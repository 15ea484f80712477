/** Hints: a store uses them to wake its subscribers. They only save waiting: a lost hint is made up for by polling. */

import type { LeaseRef } from '../core/lease.ts';

export type Hint =
  /** Jobs may have become claimable. */
  | { topic: 'work' }
  /** These jobs changed. A hint with `MAX_SURE_IDS` ids or more may be cut short. */
  | { topic: 'jobs'; ids: readonly number[] }
  /** Running jobs of these workers were asked to stop, or a worker to drain. */
  | { topic: 'workers'; ids: readonly number[] }
  /** There is something to cascade or to expand. */
  | { topic: 'graph' }
  /** A schedule was created or changed: it may be due earlier than was known. */
  | { topic: 'schedules' }
  /** A scheduled job may be due earlier than was known. */
  | { topic: 'due'; at: number }
  /** This process no longer leads any duty: its session with the store has ended. */
  | { topic: 'leadership' };

/** Changes of a call to jobs that it was not asked to change. */
export interface SideEffects {
  /** Jobs that ended because other jobs did: children that were skipped or cancelled, and groups. */
  ended: number[];
  /** Items that were inserted, by group. */
  items: { groupId: number; count: number }[];
}

/** What a call changed, for subscribers. */
export interface Announcement {
  work?: boolean;
  jobs?: Iterable<number>;
  workers?: Iterable<number>;
  graph?: boolean;
  schedules?: boolean;
  dueAt?: number | null;
  /** Absent or `null` for most calls. */
  sideEffects?: SideEffects | null;
}

/** A hint with fewer ids of jobs has all of them. The payload of a NOTIFY, 8,000 bytes, holds this many. */
export const MAX_SURE_IDS = 300;

/** Gathers changes until they are announced. */
export class Changes implements Required<Announcement> {
  work = false;
  readonly jobs = new Set<number>();
  readonly workers = new Set<number>();
  graph = false;
  schedules = false;
  dueAt: number | null = null;
  sideEffects: SideEffects | null = null;
  /** True if jobs may have become claimable, or moved forward in the order of claims. It is not announced. */
  reordered = false;
  /** Attempts that have ended, so that more of the claimable jobs may run. They are not announced. */
  readonly endedAttempts: LeaseRef[] = [];
  /** True if the settings of a queue changed. It is not announced. */
  queues = false;

  get isEmpty(): boolean {
    return this.jobs.size === 0 && !this.isUrgent;
  }

  /** True if there is anything beside ids of changed jobs, which are sent at intervals: other changes are sent at once. */
  get isUrgent(): boolean {
    return this.work || this.graph || this.schedules || this.dueAt !== null || this.workers.size > 0;
  }

  /** Records that jobs may have become claimable, or moved forward in the order of claims. */
  madeWork(): void {
    this.work = true;
    this.reordered = true;
  }

  /** Records that new jobs are claimable. The caller passes their lanes to the part that keeps the order of claims. */
  insertedWork(): void {
    this.work = true;
  }

  /** Records that more of the claimable jobs may run. */
  madeRoom(): void {
    this.work = true;
  }

  endedAttempt(attempt: LeaseRef): void {
    this.endedAttempts.push(attempt);
  }

  changedJob(id: number): void {
    if (this.jobs.size < MAX_SURE_IDS) this.jobs.add(id);
  }

  changedWorker(id: number): void {
    this.workers.add(id);
  }

  /** Records that there is something to cascade or to expand. */
  changedGraph(): void {
    this.graph = true;
  }

  /** Records that a schedule may be due earlier than was known. */
  changedSchedule(): void {
    this.schedules = true;
  }

  /** Records that the settings of a queue changed, so that more of its jobs may run. */
  changedQueue(): void {
    this.queues = true;
    this.madeRoom();
  }

  /** Records that a job ended because of others. */
  endedByGraph(id: number): void {
    this.#sideEffects().ended.push(id);
  }

  insertedItems(groupId: number, count: number): void {
    this.#sideEffects().items.push({ groupId, count });
  }

  #sideEffects(): SideEffects {
    this.sideEffects ??= { ended: [], items: [] };
    return this.sideEffects;
  }

  willBeDue(at: number): void {
    this.dueAt = Math.min(at, this.dueAt ?? at);
  }

  /** The changes for another thread. An array of ids takes a third of the time that a Set takes to send. */
  toMessage(): Announcement {
    const { work, graph, schedules, dueAt, sideEffects } = this;
    return { work, graph, schedules, dueAt, sideEffects, jobs: [...this.jobs], workers: [...this.workers] };
  }

  add({ work = false, jobs = [], workers = [], graph = false, schedules = false, dueAt = null }: Announcement): void {
    this.work ||= work;
    this.graph ||= graph;
    this.schedules ||= schedules;
    for (const id of jobs) {
      if (this.jobs.size >= MAX_SURE_IDS) break;
      this.jobs.add(id);
    }
    for (const id of workers) this.workers.add(id);
    if (dueAt !== null) this.willBeDue(dueAt);
  }

  /** Returns the gathered changes as hints and starts over. */
  take({ withJobs = true } = {}): Exclude<Hint, { topic: 'leadership' }>[] {
    const hints: ReturnType<Changes['take']> = [];
    if (this.work) hints.push({ topic: 'work' });
    if (withJobs && this.jobs.size > 0) hints.push({ topic: 'jobs', ids: [...this.jobs] });
    if (this.workers.size > 0) hints.push({ topic: 'workers', ids: [...this.workers] });
    if (this.graph) hints.push({ topic: 'graph' });
    if (this.schedules) hints.push({ topic: 'schedules' });
    if (this.dueAt !== null) hints.push({ topic: 'due', at: this.dueAt });
    this.clear({ withJobs });
    return hints;
  }

  clear({ withJobs = true } = {}): void {
    if (withJobs) this.jobs.clear();
    this.workers.clear();
    this.work = false;
    this.reordered = false;
    this.graph = false;
    this.schedules = false;
    this.dueAt = null;
    this.sideEffects = null;
  }
}

/** The listeners in this process. Changes of one turn of the event loop are announced together, after it. */
export class LocalHints {
  readonly #listeners = new Set<(hint: Hint) => void>();
  readonly #observers = new Set<(effects: SideEffects) => void>();
  readonly #changes = new Changes();
  readonly #afterTurn: (announce: () => void) => void;
  #planned = false;

  /** `afterTurn`: how to wait for the end of a turn. */
  constructor(afterTurn: (announce: () => void) => void = queueMicrotask) {
    this.#afterTurn = afterTurn;
  }

  get hasListeners(): boolean {
    return this.#listeners.size > 0;
  }

  subscribe(listener: (hint: Hint) => void): () => void {
    // Wrapped, so that one listener may be there twice.
    const entry = (hint: Hint) => listener(hint);
    this.#listeners.add(entry);
    return () => this.#listeners.delete(entry);
  }

  /** Side effects are not hints: none is lost, and none comes from another process. */
  observe(observer: (effects: SideEffects) => void): () => void {
    const entry = (effects: SideEffects) => observer(effects);
    this.#observers.add(entry);
    return () => this.#observers.delete(entry);
  }

  announce(changed: Announcement): void {
    if (changed.sideEffects) for (const observer of this.#observers) observer(changed.sideEffects);
    if (!this.hasListeners) return;
    this.#changes.add(changed);
    if (this.#planned) return;
    this.#planned = true;
    this.#afterTurn(() => {
      this.#planned = false;
      const hints = this.#changes.take();
      for (const listener of this.#listeners) for (const hint of hints) listener(hint);
    });
  }

  /** Calls the listeners at once: until then, this process believes that it leads. */
  announceLeadershipLost(): void {
    for (const listener of this.#listeners) listener({ topic: 'leadership' });
  }
}
