/**
 * Announces changes: to listeners in this process at once, to other processes by NOTIFY.
 *
 * A NOTIFY is a separate statement, run after the change has committed. Inside the statement that makes the change it would
 * hold a lock on the whole database until the commit is on disk, and it would see only the waiters of the moment at which
 * that statement began. Run afterwards it misses no waiter: a claimer registers as a waiter and then looks for work once more,
 * a submitter commits and then reads the waiters, so one of the two sees the other. If a process dies in between,
 * polling finds the work.
 */

import type { Log } from '../../../ops/log.ts';
import { type Announcement, Changes, type Hint, LocalHints, MAX_SURE_IDS, type SideEffects } from '../../hint.ts';

/** Ids of changed jobs are sent to other processes at most this often. */
const JOBS_EVERY_MS = 100;
/** A due time is sent again only if it is earlier, or after this time. */
const DUE_EVERY_MS = 1_000;

interface HintsOptions {
  /** Sends a text to all listening processes; with `onlyToWaiters`, only if another process is registered as a waiter. */
  send: (text: string, onlyToWaiters: boolean) => Promise<void>;
  /** Called with the first listener. */
  listen: () => void;
  /** The sender's id, so that a process ignores its own messages. */
  instanceId: string;
  log: Log;
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
  readonly #here = new LocalHints();
  readonly #there = new Changes();
  #sending: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #jobsSentAt = Number.NEGATIVE_INFINITY;
  #dueSent = { at: Number.POSITIVE_INFINITY, when: Number.NEGATIVE_INFINITY };
  #closed = false;

  constructor(options: HintsOptions) {
    this.#options = options;
  }

  get hasListeners(): boolean {
    return this.#here.hasListeners;
  }

  subscribe(listener: (hint: Hint) => void): () => void {
    const unsubscribe = this.#here.subscribe(listener);
    this.#options.listen();
    return unsubscribe;
  }

  observe(observer: (effects: SideEffects) => void): () => void {
    return this.#here.observe(observer);
  }

  /** What other processes are sent when there is work. */
  get workMessage(): string {
    return JSON.stringify({ from: this.#options.instanceId, work: true } satisfies Message);
  }

  /**
   * Announces changes that are on disk. `elsewhere: false` if only this process can use the hint. `workSent`: other processes
   * have been told that there is work.
   */
  announce(changed: Announcement, { elsewhere = true, workSent = false } = {}): void {
    this.#here.announce(changed);
    if (!elsewhere || this.#closed) return;
    this.#there.add({
      ...changed,
      work: (changed.work ?? false) && !workSent,
      dueAt: this.#worthSending(changed.dueAt ?? null),
    });
    this.#pump();
  }

  /** Announces here what another process has sent. */
  receive(text: string): void {
    const { from, work, jobs, workers, graph, schedules, due } = JSON.parse(text) as Message;
    if (from === this.#options.instanceId) return;
    this.#here.announce({
      work: work ?? false,
      jobs: jobs ?? [],
      workers: workers ?? [],
      graph: graph ?? false,
      schedules: schedules ?? false,
      dueAt: due ?? null,
    });
  }

  /** Called after messages may have been missed: anything may have changed. */
  receiveAnything(): void {
    this.#here.announce({ work: true, graph: true, schedules: true, dueAt: 0 });
  }

  announceLeadershipLost(): void {
    this.#here.announceLeadershipLost();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#sending;
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
    for (const hint of this.#there.take({ withJobs })) {
      if (hint.topic === 'work') message.work = true;
      else if (hint.topic === 'due') message.due = hint.at;
      else if (hint.topic === 'graph' || hint.topic === 'schedules') message[hint.topic] = true;
      else message[hint.topic] = hint.ids.slice(0, MAX_SURE_IDS);
    }
    const { from: _, work: _work, ...others } = message;
    const onlyToWaiters = Object.keys(others).length === 0;
    this.#sending = this.#options
      .send(JSON.stringify(message), onlyToWaiters)
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
