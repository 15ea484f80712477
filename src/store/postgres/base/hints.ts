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
import { type Changed, Changes, type Hint, LocalHints } from '../../hint.ts';

/** Ids beyond this number are dropped: a notification holds 8,000 bytes. */
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

  /** To be called once the change is on disk. `elsewhere: false` where only this process can have use for it. */
  tell(changed: Changed, { elsewhere = true } = {}): void {
    this.#here.announce(changed);
    if (!elsewhere || this.#closed) return;
    this.#there.add({ ...changed, dueAt: this.#worthSending(changed.dueAt ?? null) });
    this.#pump();
  }

  /** What another process has sent. */
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

  /** Anything may have changed: notifications were missed. */
  receiveAnything(): void {
    this.#here.announce({ work: true, graph: true, schedules: true, dueAt: 0 });
  }

  tellLeadershipLost(): void {
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
    for (const hint of this.#there.take({ maxIds: MAX_SENT_IDS, withJobs })) {
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
