/**
 * Tells who waits that something changed: listeners in this process at once, those in others by NOTIFY.
 *
 * A notification is a statement of its own, sent after the change has committed. In the statement that changes
 * something it would hold a lock of the whole database until that commit is on disk; and it could not ask whether
 * somebody waits without a gap, because a statement sees who waited when it began. Sent afterwards there is no gap: a
 * claimer says that it waits and then looks once more, a submitter commits and then looks who waits, so one of the two
 * sees the other. What a process that dies in between leaves unsaid, polling finds.
 */

import type { Log } from '../../../ops/log.ts';
import type { Hint } from '../../hint.ts';

/** More ids than this are cut off; a notification holds 8,000 bytes. */
const MAX_LOCAL_IDS = 1_000;
const MAX_SENT_IDS = 300;
/** Which jobs changed is told to others at most this often. */
const JOBS_EVERY_MS = 100;
/** A due time is announced again only if it is earlier, or after so long. */
const DUE_EVERY_MS = 1_000;

export interface HintsOptions {
  /** Sends a text to all who listen; with `onlyWaiting`, if another process has said that it waits for work. */
  send: (text: string, onlyWaiting: boolean) => Promise<void>;
  /** Called with the first listener. */
  listen: () => void;
  /** Of this process, so that it does not hear itself. */
  instanceId: string;
  log: Log;
}

export interface Changed {
  work?: boolean;
  jobs?: readonly number[];
  workers?: readonly number[];
  /** There is something to cascade or to expand. */
  graph?: boolean;
  /** A schedule may be due earlier than was known. */
  schedules?: boolean;
  dueAt?: number | null;
}

interface Message {
  from: string;
  work?: true;
  jobs?: number[];
  workers?: number[];
  graph?: true;
  schedules?: true;
  due?: number;
}

export class Hints implements AsyncDisposable {
  readonly #options: HintsOptions;
  readonly #listeners = new Set<(hint: Hint) => void>();
  readonly #here = new Gathered();
  readonly #there = new Gathered();
  #telling = false;
  #sending: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #jobsSentAt = Number.NEGATIVE_INFINITY;
  #dueSent = { at: Number.POSITIVE_INFINITY, when: Number.NEGATIVE_INFINITY };
  #closed = false;

  constructor(options: HintsOptions) {
    this.#options = options;
  }

  get hasListeners(): boolean {
    return this.#listeners.size > 0;
  }

  subscribe(listener: (hint: Hint) => void): () => void {
    // Wrapped, so that one listener may be there twice.
    const entry = (hint: Hint) => listener(hint);
    this.#listeners.add(entry);
    this.#options.listen();
    return () => this.#listeners.delete(entry);
  }

  /** To be called once the change is on disk. `elsewhere: false` where only this process can have use for it. */
  tell(changed: Changed, { elsewhere = true } = {}): void {
    this.#tellHere(changed);
    if (!elsewhere || this.#closed) return;
    this.#there.add({ ...changed, dueAt: this.#worthSending(changed.dueAt ?? null) });
    this.#pump();
  }

  /** What another process has sent. */
  receive(text: string): void {
    const { from, work, jobs, workers, graph, schedules, due } = JSON.parse(text) as Message;
    if (from === this.#options.instanceId) return;
    this.#tellHere({
      work: work ?? false,
      jobs: jobs ?? [],
      workers: workers ?? [],
      graph: graph ?? false,
      schedules: schedules ?? false,
      dueAt: due ?? null,
    });
  }

  /** Anything may have changed: notifications were missed. */
  receiveAnything(): void {
    this.#tellHere({ work: true, graph: true, schedules: true, dueAt: 0 });
  }

  /** At once, not with others: until it is heard, this process believes that it leads. */
  tellLeadershipLost(): void {
    for (const listener of this.#listeners) listener({ topic: 'leadership' });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#sending;
  }

  #tellHere(changed: Changed): void {
    if (this.#listeners.size === 0) return;
    this.#here.add(changed);
    if (this.#telling) return;
    this.#telling = true;
    queueMicrotask(() => {
      this.#telling = false;
      const hints = this.#here.take(MAX_LOCAL_IDS);
      for (const listener of this.#listeners) for (const hint of hints) listener(hint);
    });
  }

  #worthSending(dueAt: number | null): number | null {
    const now = performance.now();
    if (dueAt === null || (dueAt >= this.#dueSent.at && now < this.#dueSent.when + DUE_EVERY_MS)) return null;
    this.#dueSent = { at: dueAt, when: now };
    return dueAt;
  }

  #pump(): void {
    if (this.#sending !== undefined || this.#closed) return;
    const jobsIn = this.#jobsSentAt + JOBS_EVERY_MS - performance.now();
    const withJobs = jobsIn <= 0 && this.#there.jobs.size > 0;
    if (!this.#there.isUrgent && !withJobs) {
      if (this.#there.jobs.size > 0) this.#timer ??= setTimeout(() => this.#later(), jobsIn).unref();
      return;
    }
    if (withJobs) this.#jobsSentAt = performance.now();
    const message: Message = { from: this.#options.instanceId };
    for (const hint of this.#there.take(MAX_SENT_IDS, withJobs)) {
      if (hint.topic === 'work') message.work = true;
      else if (hint.topic === 'due') message.due = hint.at;
      else if (hint.topic === 'graph' || hint.topic === 'schedules') message[hint.topic] = true;
      else message[hint.topic] = [...hint.ids];
    }
    const { from: _, work: _work, ...others } = message;
    const onlyWaiting = Object.keys(others).length === 0;
    this.#sending = this.#options
      .send(JSON.stringify(message), onlyWaiting)
      .catch((error: unknown) => this.#options.log.debug({ error }, 'a hint was not sent'))
      .finally(() => {
        this.#sending = undefined;
        this.#pump();
      });
  }

  #later(): void {
    this.#timer = undefined;
    this.#pump();
  }
}

type GatheredHint = Exclude<Hint, { topic: 'leadership' }>;

/** What is to be told, until it is. */
class Gathered {
  readonly jobs = new Set<number>();
  readonly #workers = new Set<number>();
  #work = false;
  #graph = false;
  #schedules = false;
  #dueAt: number | null = null;

  get isUrgent(): boolean {
    return this.#work || this.#graph || this.#schedules || this.#dueAt !== null || this.#workers.size > 0;
  }

  add({ work = false, jobs = [], workers = [], graph = false, schedules = false, dueAt = null }: Changed): void {
    this.#work ||= work;
    this.#graph ||= graph;
    this.#schedules ||= schedules;
    for (const id of jobs) {
      if (this.jobs.size >= MAX_LOCAL_IDS) break;
      this.jobs.add(id);
    }
    for (const id of workers) this.#workers.add(id);
    if (dueAt !== null) this.#dueAt = Math.min(dueAt, this.#dueAt ?? dueAt);
  }

  take(maxIds: number, withJobs = true): GatheredHint[] {
    const hints: GatheredHint[] = [];
    if (this.#work) hints.push({ topic: 'work' });
    if (withJobs && this.jobs.size > 0) {
      hints.push({ topic: 'jobs', ids: [...this.jobs].slice(0, maxIds) });
      this.jobs.clear();
    }
    if (this.#workers.size > 0) hints.push({ topic: 'workers', ids: [...this.#workers].slice(0, maxIds) });
    if (this.#graph) hints.push({ topic: 'graph' });
    if (this.#schedules) hints.push({ topic: 'schedules' });
    if (this.#dueAt !== null) hints.push({ topic: 'due', at: this.#dueAt });
    this.#workers.clear();
    this.#work = false;
    this.#graph = false;
    this.#schedules = false;
    this.#dueAt = null;
    return hints;
  }
}
