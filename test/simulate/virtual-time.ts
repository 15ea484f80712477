/**
 * Virtual time: one queue of events for all parts of a simulation. Code that runs as a part gets its timers, its clock
 * and its random numbers from here, also where it takes them from the process (`setTimeout`, `Date.now`, `os.uptime`,
 * `Math.random` …), so that no hidden timer escapes.
 */

import { AsyncLocalStorage } from 'node:async_hooks';
import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';
import type { Clock } from '../../src/core/clock.ts';
import { NEVER } from '../../src/core/never.ts';
import { Heap } from '../../src/store/heap.ts';
import type { Chance } from './chance.ts';

/** The wall clock at the virtual instant 0. */
export const EPOCH = Date.UTC(2026, 0, 1);

interface Event {
  at: number;
  /** Decides between events of different parts at the same instant. */
  order: number;
  /** Decides between events of one part at the same instant: first come, first served, as in an event loop. */
  number: number;
  part: Part;
  run: () => void;
}

/** A process of the simulation: it can die, freeze, and have a wrong wall clock. */
export class Part {
  readonly name: string;
  readonly chance: Chance;
  readonly time: VirtualTime;
  alive = true;
  frozen = false;
  /** By how much its wall clock differs. Its monotonic clock is always right. */
  wallOffsetMs = 0;
  /** Events that came due while it was frozen. */
  readonly held: Event[] = [];
  lastOrder = { at: -1, order: 0 };
  readonly #onDeath = new Set<() => void>();

  constructor(name: string, time: VirtualTime, chance: Chance) {
    this.name = name;
    this.time = time;
    this.chance = chance;
  }

  /** The wall clock and timers of this part. */
  get clock(): Clock {
    return {
      now: () => this.wallNow(),
      monotonicMs: () => this.time.now,
      sleep: (ms, signal) => this.#sleep(ms, signal),
    };
  }

  wallNow(): number {
    return Math.floor(EPOCH + this.time.now + this.wallOffsetMs);
  }

  /** Runs `body` as this part. */
  run<T>(body: () => T): T {
    return current.run(this, body);
  }

  /** Returns a function that takes the listener off. */
  onDeath(listener: () => void): () => void {
    this.#onDeath.add(listener);
    return () => this.#onDeath.delete(listener);
  }

  /** Nothing of this part happens any more: its timers never fire and no answer reaches it. */
  die(): void {
    this.alive = false;
    const listeners = Array.from(this.#onDeath);
    this.#onDeath.clear();
    for (const listener of listeners) listener();
  }

  #sleep(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal.aborted) return resolve();
      const done = () => {
        this.time.cancel(event);
        signal.removeEventListener('abort', done);
        resolve();
      };
      const event = this.time.after(ms, this, done);
      signal.addEventListener('abort', done);
    });
  }
}

const current = new AsyncLocalStorage<Part>();

export class VirtualTime {
  /** Milliseconds since the start; never goes back. */
  now = 0;
  events = 0;
  readonly #queue = new Heap<Event>(isEarlier);
  readonly #chance: Chance;
  #numbered = 0;

  constructor(chance: Chance) {
    this.#chance = chance;
  }

  /** Calls `run` as `part` after `ms`, unless the part has died by then. */
  after(ms: number, part: Part, run: () => void): Event {
    const at = this.now + Math.max(0, ms);
    if (part.lastOrder.at !== at) part.lastOrder = { at, order: this.#chance.next() };
    const event = { at, order: part.lastOrder.order, number: (this.#numbered += 1), part, run };
    this.#queue.add(event);
    return event;
  }

  cancel(event: Event): void {
    this.#queue.delete(event);
    const held = event.part.held.indexOf(event);
    if (held !== -1) event.part.held.splice(held, 1);
  }

  /** Lets a frozen part go on with what came due meanwhile. */
  thaw(part: Part): void {
    part.frozen = false;
    for (const event of part.held.splice(0)) {
      event.at = this.now;
      this.#queue.add(event);
    }
  }

  /** Runs events until `instant`, or until `stop` returns true after one. */
  async runUntil(instant: number, stop: () => boolean | Promise<boolean>): Promise<void> {
    for (let event = this.#queue.peek(); event !== undefined && event.at <= instant; event = this.#queue.peek()) {
      this.#queue.delete(event);
      if (!event.part.alive) continue;
      if (event.part.frozen) {
        event.part.held.push(event);
        continue;
      }
      this.now = Math.max(this.now, event.at);
      this.events += 1;
      current.run(event.part, event.run);
      await quiescent();
      if (await stop()) return;
    }
    this.now = Math.max(this.now, instant);
  }
}

function isEarlier(a: Event, b: Event): boolean {
  if (a.at !== b.at) return a.at < b.at;
  if (a.order !== b.order) return a.order < b.order;
  return a.number < b.number;
}

const real = {
  setTimeout: globalThis.setTimeout,
  clearTimeout: globalThis.clearTimeout,
  setImmediate: globalThis.setImmediate,
  dateNow: Date.now,
  random: Math.random,
  performanceNow: performance.now.bind(performance),
  uptime: os.uptime.bind(os),
  hrtime: process.hrtime.bigint.bind(process.hrtime),
  timeoutSignal: AbortSignal.timeout.bind(AbortSignal),
};

/** Resolves when no microtask is left: a macrotask of the real event loop begins only then. */
function quiescent(): Promise<void> {
  return new Promise((resolve) => void real.setImmediate(resolve));
}

class VirtualTimer {
  readonly #part: Part;
  readonly #run: () => void;
  readonly #ms: number;
  #event: Event;

  constructor(part: Part, ms: number, run: () => void) {
    this.#part = part;
    this.#ms = ms;
    this.#run = run;
    this.#event = part.time.after(ms, part, run);
  }

  clear(): void {
    this.#part.time.cancel(this.#event);
  }

  refresh(): this {
    this.clear();
    this.#event = this.#part.time.after(this.#ms, this.#part, this.#run);
    return this;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  hasRef(): boolean {
    return true;
  }
}

type Callback = (...args: unknown[]) => void;

/**
 * A signal that never aborts needs no listeners, and those of parts that died would stay for ever: adding one takes
 * time in proportion to their number.
 */
function forgetListeners(signal: AbortSignal): void {
  Object.assign(signal, { addEventListener: () => undefined, removeEventListener: () => undefined });
}

/** Gives parts virtual time and chance. Code that runs as no part keeps the real ones. */
export function installVirtualTime(): void {
  const inPart = <T>(virtual: (part: Part) => T, really: () => T): T => {
    const part = current.getStore();
    return part === undefined ? really() : virtual(part);
  };
  const timer = (run: Callback, ms: number, args: unknown[]) => (part: Part) =>
    new VirtualTimer(part, ms, () => run(...args));
  const replaced = {
    setTimeout: (run: Callback, ms = 0, ...args: unknown[]) =>
      inPart<unknown>(timer(run, Math.max(1, ms), args), () => real.setTimeout(run, ms, ...args)),
    setImmediate: (run: Callback, ...args: unknown[]) =>
      inPart<unknown>(timer(run, 0, args), () => real.setImmediate(run, ...args)),
    clearTimeout: (timer: unknown) => {
      if (timer instanceof VirtualTimer) timer.clear();
      else real.clearTimeout(timer as NodeJS.Timeout);
    },
  };
  Object.assign(globalThis, replaced);
  Date.now = () => inPart((part) => part.wallNow(), real.dateNow);
  Math.random = () => inPart((part) => part.chance.next(), real.random);
  performance.now = () => inPart((part) => part.time.now, real.performanceNow);
  process.hrtime.bigint = () => inPart((part) => BigInt(Math.round(part.time.now * 1e6)), real.hrtime);
  AbortSignal.timeout = (ms) =>
    inPart(
      (part) => virtualTimeout(part, ms),
      () => real.timeoutSignal(ms),
    );
  os.uptime = () => inPart((part) => part.time.now / 1_000, real.uptime);
  syncBuiltinESMExports();
  // Stack traces would name the folder of this copy, and take a tenth of the time.
  Error.stackTraceLimit = 0;
  forgetListeners(NEVER);
}

function virtualTimeout(part: Part, ms: number): AbortSignal {
  const controller = new AbortController();
  part.time.after(ms, part, () => controller.abort(new DOMException('timed out', 'TimeoutError')));
  return controller.signal;
}
