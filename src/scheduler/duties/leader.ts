/**
 * Makes sure that each duty is led by one of the instances that share a store, and that another takes over if it fails.
 */

import type { Duty } from '../../core/duty.ts';
import { isWorkronError, WorkronError } from '../../core/error.ts';
import type { TermFence } from '../../core/leadership.ts';
import type { Loop } from '../../ops/loop.ts';
import { Wake } from '../../ops/wake.ts';
import type { Led } from '../../store/cluster-store.ts';
import type { SchedulerContext } from '../context.ts';

interface Pace {
  /** How long a leader may go without renewing. */
  termMs: number;
  renewEveryMs: number;
  /** How often a leader checks its term against the time that has passed. No store call is needed. */
  checkEveryMs: number;
  /** How often an instance tries to become leader. */
  tryEveryMs: number;
}

const SHARED: Pace = { termMs: 5_000, renewEveryMs: 2_000, checkEveryMs: 2_000, tryEveryMs: 1_000 };
/** On a store with one owner no other instance can compete, and each renewal is a write to disk. */
const EXCLUSIVE: Pace = { termMs: 86_400_000, renewEveryMs: 3_600_000, checkEveryMs: 10_000, tryEveryMs: 1_000 };

/** Loops sleep up to a tenth less than asked; a wait for the end of a term must not be too short. */
const LOOP_JITTER = 0.9;

interface Term {
  term: number;
  /** By the monotonic clock, counted from when the renewal was sent. */
  until: number;
  renewAt: number;
}

export class Leader implements Disposable {
  /** Acquires and renews the terms; runs beside the duties. */
  readonly loop: Loop;
  readonly #context: SchedulerContext;
  readonly #pace: Pace;
  readonly #duties = new Map<Duty, Wake>();
  readonly #terms = new Map<Duty, Term>();
  /** The last refusal logged for each duty, so that it is logged once and not every second. */
  readonly #loggedRefusals = new Map<Duty, string>();
  readonly #unsubscribe: () => void;

  constructor(context: SchedulerContext) {
    this.#context = context;
    this.#pace = context.store.exclusive ? EXCLUSIVE : SHARED;
    const wake = new Wake();
    this.loop = {
      name: 'leader',
      everyMs: this.#pace.tryEveryMs,
      wake,
      tick: (signal) => this.#round(signal),
    };
    this.#unsubscribe = context.store.subscribe(({ topic }) => {
      if (topic !== 'leadership') return;
      this.#lose([...this.#terms.keys()], 'the session with the store has ended');
      wake.fire();
    });
  }

  /**
   * Returns a loop that has its rounds only while this instance leads the duty. `make` gets a store that refuses writes
   * after leadership is lost. On other instances the loop's `standby`, if any, runs instead.
   */
  lead(duty: Duty, make: (context: SchedulerContext) => Loop): Loop {
    const loop = make({ ...this.#context, store: this.#context.store.fenced(() => this.#fence(duty)) });
    const wake = loop.wake ?? new Wake();
    this.#duties.set(duty, wake);
    this.#context.telemetry.metrics.leader.set({ duty }, 0);
    return {
      name: loop.name,
      everyMs: loop.everyMs,
      wake,
      tick: async (signal) => {
        if (!this.leads(duty)) {
          await loop.standby?.(signal);
          return undefined;
        }
        try {
          return await loop.tick(signal);
        } catch (error) {
          // Another instance leads: this is not a failure, and nothing of this round was written.
          if (!isWorkronError(error, 'leadership_lost')) throw error;
          this.#lose([duty], error.message);
          return undefined;
        }
      },
    };
  }

  leads(duty: Duty): boolean {
    const term = this.#terms.get(duty);
    if (term === undefined) return false;
    if (this.#context.clock.monotonicMs() < term.until) return true;
    this.#lose([duty], 'the term was not renewed in time');
    return false;
  }

  /** Gives up all terms, so that another instance can take over at once. */
  async resign(signal: AbortSignal): Promise<void> {
    for (const duty of this.#terms.keys()) this.#forget(duty);
    await this.#context.store.resign(this.#context.instanceId, signal);
  }

  [Symbol.dispose](): void {
    this.#unsubscribe();
  }

  #fence(duty: Duty): TermFence {
    const term = this.leads(duty) ? this.#terms.get(duty)?.term : undefined;
    if (term === undefined) throw new WorkronError('leadership_lost', `This instance does not lead the ${duty}`);
    return { duty, term };
  }

  /** Returns how long to wait. */
  async #round(signal: AbortSignal): Promise<number> {
    const { store, clock, instanceId } = this.#context;
    const { termMs, checkEveryMs, tryEveryMs } = this.#pace;
    const sentAt = clock.monotonicMs();
    if (this.#leadsUntil(sentAt + checkEveryMs)) return checkEveryMs;
    const terms = new Map(this.#terms);
    const duties = [...this.#duties.keys()].map((duty) => ({ duty, term: terms.get(duty)?.term ?? null }));
    const answers = await store.lead({ instanceId, duties, termMs }, signal);
    // Leaves out duties that were lost while the call was under way.
    const current = answers.filter(({ duty }) => !terms.has(duty) || this.#terms.has(duty));
    this.#gain(
      current.filter(({ leads }) => leads),
      sentAt,
    );
    this.#miss(current.filter(({ leads }) => !leads));
    if (answers.every(({ duty }) => this.#terms.has(duty))) return checkEveryMs;
    const now = await store.now(signal);
    const ends = answers.filter(({ duty }) => !this.#terms.has(duty)).map(({ expiresAt }) => expiresAt - now);
    const soonest = Math.max(0, Math.min(...ends)) / LOOP_JITTER + 1;
    return Math.min(tryEveryMs, soonest);
  }

  /** True if this instance leads all its duties and need not renew before `instant`. */
  #leadsUntil(instant: number): boolean {
    return this.#duties.keys().every((duty) => this.leads(duty) && instant < (this.#terms.get(duty)?.renewAt ?? 0));
  }

  #gain(led: readonly Led[], sentAt: number): void {
    const { log, telemetry, instanceId } = this.#context;
    const { termMs, renewEveryMs } = this.#pace;
    const fresh = led.filter(({ duty, term }) => this.#terms.get(duty)?.term !== term);
    for (const { duty, term } of led) {
      this.#terms.set(duty, { term, until: sentAt + termMs, renewAt: sentAt + renewEveryMs });
    }
    for (const { duty } of fresh) {
      telemetry.metrics.leader.set({ duty }, 1);
      this.#loggedRefusals.delete(duty);
      this.#duties.get(duty)?.fire();
    }
    const terms = Object.fromEntries(fresh.map(({ duty, term }) => [duty, term]));
    if (fresh.length > 0) log.info({ terms, instance_id: instanceId }, 'became leader');
  }

  #miss(missed: readonly Led[]): void {
    const { log, instanceId } = this.#context;
    for (const { duty, term, instanceId: holder, lockKey, locked, contended } of missed) {
      this.#lose([duty], `${holder} leads in term ${term}`);
      const refusal = `${holder} ${term} ${contended}`;
      if (this.#loggedRefusals.get(duty) === refusal) continue;
      this.#loggedRefusals.set(duty, refusal);
      const fields = { duty, lock_key: lockKey, instance_id: instanceId, holder, term, locked };
      log.debug(
        fields,
        contended ? 'another instance holds the session lock of this duty' : 'another instance leads this duty',
      );
    }
  }

  #lose(duties: readonly Duty[], reason: string): void {
    const { log, instanceId } = this.#context;
    const lost = duties.filter((duty) => this.#terms.has(duty));
    if (lost.length === 0) return;
    const terms = Object.fromEntries(lost.map((duty) => [duty, this.#terms.get(duty)?.term]));
    log.info({ terms, instance_id: instanceId, reason }, 'lost leadership');
    for (const duty of lost) this.#forget(duty);
  }

  #forget(duty: Duty): void {
    this.#terms.delete(duty);
    this.#context.telemetry.metrics.leader.set({ duty }, 0);
  }
}
