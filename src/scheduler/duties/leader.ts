/** Sees to it that of all instances on one store one performs each duty, and that another does when that one is gone. */

import type { Duty } from '../../core/duty.ts';
import { isWorkronError, WorkronError } from '../../core/error.ts';
import type { Fence } from '../../core/leadership.ts';
import type { Loop } from '../../ops/loop.ts';
import { Wake } from '../../ops/wake.ts';
import type { Led } from '../../store/cluster-store.ts';
import type { SchedulerContext } from '../context.ts';

interface Pace {
  /** How long a leader may be silent. */
  termMs: number;
  renewEveryMs: number;
  /** How often one who leads looks whether it still does, which costs nothing: its clock may have been set anew. */
  lookEveryMs: number;
  /** How often one who does not lead looks whether it may. */
  tryEveryMs: number;
}

const SHARED: Pace = { termMs: 5_000, renewEveryMs: 2_000, lookEveryMs: 2_000, tryEveryMs: 1_000 };
/** Nobody else can want a duty where the store has one owner, and saying again that one leads costs a write to its disk. */
const EXCLUSIVE: Pace = { termMs: 86_400_000, renewEveryMs: 3_600_000, lookEveryMs: 10_000, tryEveryMs: 1_000 };

/** Loops sleep up to a tenth less than they say; a wait for the end of a term must not be short. */
const LOOP_JITTER = 0.9;

interface Term {
  term: number;
  /** By our own clock, from when the renewal was sent. */
  until: number;
  renewAt: number;
}

export class Leader implements Disposable {
  /** Takes and keeps duties; runs beside them. */
  readonly loop: Loop;
  readonly #context: SchedulerContext;
  readonly #pace: Pace;
  readonly #duties = new Map<Duty, Wake>();
  readonly #terms = new Map<Duty, Term>();
  /** The last refusal told of each duty, so that it is told once and not every second. */
  readonly #told = new Map<Duty, string>();
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
   * A loop that has its rounds only while this instance leads the duty, on a store that refuses its writes once it does
   * not. `make` is given that store. Elsewhere the loop's `standby`, where it has one, keeps it ready.
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
          // Another leads: no failure of this round, and nothing of it was written.
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
    if (this.#context.clock.now() < term.until) return true;
    this.#lose([duty], 'the term was not renewed in time');
    return false;
  }

  /** Gives everything up, so that another instance need not wait. */
  async resign(signal: AbortSignal): Promise<void> {
    for (const duty of this.#terms.keys()) this.#forget(duty);
    await this.#context.store.resign(this.#context.instanceId, signal);
  }

  [Symbol.dispose](): void {
    this.#unsubscribe();
  }

  #fence(duty: Duty): Fence {
    const term = this.leads(duty) ? this.#terms.get(duty)?.term : undefined;
    if (term === undefined) throw new WorkronError('leadership_lost', `This instance does not lead the ${duty}`);
    return { duty, term };
  }

  /** Answers with how long to wait. */
  async #round(signal: AbortSignal): Promise<number> {
    const { store, clock, instanceId } = this.#context;
    const { termMs, lookEveryMs, tryEveryMs } = this.#pace;
    const sentAt = clock.now();
    if (this.#leadsUntil(sentAt + lookEveryMs)) return lookEveryMs;
    const terms = new Map(this.#terms);
    const duties = [...this.#duties.keys()].map((duty) => ({ duty, term: terms.get(duty)?.term ?? null }));
    const answers = await store.lead({ instanceId, duties, termMs }, signal);
    // Without those that were given up while the call was under way.
    const heeded = answers.filter(({ duty }) => !terms.has(duty) || this.#terms.has(duty));
    this.#gain(
      heeded.filter(({ leads }) => leads),
      sentAt,
    );
    this.#miss(heeded.filter(({ leads }) => !leads));
    if (answers.every(({ duty }) => this.#terms.has(duty))) return lookEveryMs;
    const now = await store.now(signal);
    const ends = answers.filter(({ duty }) => !this.#terms.has(duty)).map(({ expiresAt }) => expiresAt - now);
    const soonest = Math.max(0, Math.min(...ends)) / LOOP_JITTER + 1;
    return Math.min(tryEveryMs, soonest);
  }

  /** Whether it leads all its duties, and need not say so again before `instant`. */
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
      this.#told.delete(duty);
      this.#duties.get(duty)?.fire();
    }
    const terms = Object.fromEntries(fresh.map(({ duty, term }) => [duty, term]));
    if (fresh.length > 0) log.info({ terms, instance_id: instanceId }, 'leads');
  }

  #miss(missed: readonly Led[]): void {
    const { log, instanceId } = this.#context;
    for (const { duty, term, instanceId: holder, lockKey, locked, contended } of missed) {
      this.#lose([duty], `${holder} leads in term ${term}`);
      const refusal = `${holder} ${term} ${contended}`;
      if (this.#told.get(duty) === refusal) continue;
      this.#told.set(duty, refusal);
      const fields = { duty, lock_key: lockKey, instance_id: instanceId, holder, term, locked };
      log.debug(
        fields,
        contended ? 'another instance holds the lock of this duty' : 'another instance leads this duty',
      );
    }
  }

  #lose(duties: readonly Duty[], why: string): void {
    const { log, instanceId } = this.#context;
    const lost = duties.filter((duty) => this.#terms.has(duty));
    if (lost.length === 0) return;
    const terms = Object.fromEntries(lost.map((duty) => [duty, this.#terms.get(duty)?.term]));
    log.info({ terms, instance_id: instanceId, why }, 'leads no more');
    for (const duty of lost) this.#forget(duty);
  }

  #forget(duty: Duty): void {
    this.#terms.delete(duty);
    this.#context.telemetry.metrics.leader.set({ duty }, 0);
  }
}
