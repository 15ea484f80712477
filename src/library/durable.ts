/**
 * The steps of one run of a function. Names that are stored give what is stored; others run, and are stored before the function goes on.
 * While nothing but waits is open the run is suspended: from then on no call of it settles.
 */

import { AsyncLocalStorage } from 'node:async_hooks';
import type { Step, StepKind } from '../core/durable.ts';
import { formatDuration } from '../core/duration.ts';
import { Cancel, Fatal, Snooze, StepChanged, StepFailed } from '../core/handler-errors.ts';
import type { Thrown } from '../core/outcome.ts';
import type { Durable, HandlerContext } from '../worker/run/handler-context.ts';
import { thrownOf } from '../worker/run/thrown.ts';
import type { Json } from './json.ts';
import type { Duration } from './options.ts';
import type { OutputOf, Schema } from './schema.ts';
import {
  delayOf,
  keyOf,
  msOf,
  plainly,
  refused,
  resultOf,
  type StepContext,
  type StepName,
  type StepOptions,
  textOf,
  textOfResult,
  waitOf,
} from './step-values.ts';

export interface RunStep {
  <Result>(
    name: StepName,
    body: (context: StepContext) => Result,
    options?: StepOptions,
  ): Promise<Json<Awaited<Result>>>;
  <S extends Schema>(
    name: StepName,
    body: (context: StepContext) => unknown,
    options: StepOptions<S> & { as: S },
  ): Promise<OutputOf<S>>;
}

/** The calls of a durable function. */
export interface DurableCalls {
  /** Runs a function once, and returns its result, as JSON, now and whenever the job's function runs again. */
  readonly step: RunStep;
  /** Waits for a time, or until an instant. A longer wait gives the slot back, and survives restarts. */
  readonly sleep: (name: StepName, until: Duration | Date) => Promise<void>;
}

type Body = (context: StepContext) => unknown;

interface OpenWait {
  until: number;
  resume: () => void;
}

/** The step whose body runs, where it runs. */
const running = new AsyncLocalStorage<{ run: DurableRun; name: string }>();

export class DurableRun implements Durable {
  readonly #inner: HandlerContext;
  readonly #stored = new Map<string, Step>();
  readonly #asked = new Set<string>();
  readonly #waits = new Map<string, OpenWait>();
  /** Calls that are not waits. */
  readonly #open = new Set<string>();
  #next: number | null;
  #loading: Promise<void> | undefined;
  #turn = 0;
  #timer: NodeJS.Timeout | undefined;
  #over = false;

  constructor(inner: HandlerContext) {
    this.#inner = inner;
    this.#next = inner.steps.next;
    for (const step of inner.steps.steps) this.#stored.set(step.name, step);
    inner.keepDurable(this);
    inner.signal.addEventListener('abort', () => this.#consider());
  }

  step(name: StepName, body: Body, options: StepOptions<Schema | undefined> = {}): Promise<unknown> {
    return this.#call(name, (text) => this.#step(text, body, options));
  }

  sleep(name: StepName, until: Duration | Date): Promise<void> {
    return this.#call(name, (text) => this.#sleep(text, until));
  }

  /** Counts another call as open, such as a submission. From the suspension on it is not made. */
  during<T>(call: () => Promise<T>): Promise<T> {
    return this.#over ? never() : this.#counted(`call ${this.#turn} ${this.#open.size}`, call);
  }

  async returned(): Promise<Error | undefined> {
    this.#over = true;
    clearTimeout(this.#timer);
    const [open] = this.#open;
    if (open !== undefined) return refused(`the function returned while the step ${open} was open; await it`);
    while (this.#next !== null) await this.#load();
    const unused = [...this.#stored.keys()].filter((name) => !this.#asked.has(name));
    if (unused.length > 0) await this.#inner.noteUnused(unused);
    return undefined;
  }

  threw(error: unknown): unknown {
    this.#over = true;
    clearTimeout(this.#timer);
    return error instanceof Snooze ? refused('a function with steps cannot snooze; use sleep') : error;
  }

  async #call<T>(name: StepName, call: (text: string) => Promise<T>): Promise<T> {
    if (this.#over) return never();
    const inside = running.getStore();
    if (inside?.run === this) throw refused(`steps inside of the step ${inside.name} are not possible`);
    const why = this.#inner.whyNoSteps;
    if (why !== null) throw refused(`the job may have no steps: ${why}`);
    const text = textOf(name);
    if (this.#asked.has(text)) throw refused(`the step ${text} was asked for twice; names are unique within a job`);
    this.#asked.add(text);
    return await this.#counted(text, () => call(text));
  }

  async #counted<T>(text: string, call: () => Promise<T>): Promise<T> {
    this.#open.add(text);
    try {
      return await call();
    } finally {
      this.#open.delete(text);
      this.#consider();
    }
  }

  async #sleep(name: string, until: Duration | Date): Promise<void> {
    const sleep = { name, kind: 'sleep' as const, tries: 0, tookMs: 0, result: null, thrown: null };
    const stored =
      (await this.#find(name, 'sleep')) ?? (await this.#inner.writeStep({ ...sleep, wait: waitOf(until) }));
    if (stored.endedAt !== null) return;
    await this.#wait(name, stored.until ?? 0);
    await this.#inner.writeStep({ ...sleep, wait: null });
  }

  async #step(name: string, body: Body, options: StepOptions<Schema | undefined>): Promise<unknown> {
    const stored = await this.#find(name, 'step');
    if (stored !== undefined && stored.endedAt !== null) return await resultOf(stored, options.as);
    let tries = stored?.tries ?? 0;
    if (stored !== undefined) await this.#wait(name, stored.until ?? 0);
    for (;;) {
      const startedAt = performance.now();
      const ended = await this.#try({ name, body, options, attempt: tries + 1 });
      const written = { name, kind: 'step' as const, tookMs: performance.now() - startedAt };
      if ('text' in ended) {
        await this.#inner.writeStep({ ...written, tries, wait: null, result: ended.text, thrown: null });
        return ended.text === null ? undefined : (JSON.parse(ended.text) as unknown);
      }
      tries += 1;
      const { error, thrown } = ended;
      const mayRetry = tries <= (options.retry ?? 0) && !(error instanceof Fatal);
      const wait = mayRetry ? { ms: delayOf(error, tries, options) } : null;
      const { until } = await this.#inner.writeStep({
        ...written,
        tries,
        wait,
        result: null,
        thrown: wait === null ? thrown : null,
      });
      if (wait === null) throw new StepFailed(name, thrown);
      await this.#wait(name, until ?? 0);
    }
  }

  /** Runs the body once. An error is an answer, unless it ends the attempt as a whole. */
  async #try(one: Try): Promise<{ text: string | null } | { error: unknown; thrown: Thrown }> {
    try {
      return { text: textOfResult(await this.#within(one)) };
    } catch (error) {
      if (this.#inner.signal.aborted || error instanceof Cancel) throw error;
      const { thrown = plainly(error) } = thrownOf(error);
      return { error, thrown };
    }
  }

  /** A body that ignores its signal is left alone after the timeout. */
  #within({ name, body, options: { timeout }, attempt }: Try): Promise<unknown> {
    const { jobId, signal } = this.#inner;
    const run = (own: AbortSignal) =>
      running.run({ run: this, name }, async () => await body({ key: keyOf(jobId, name), signal: own, attempt }));
    if (timeout === undefined) return run(signal);
    const ms = msOf(timeout, 'timeout');
    const over = new AbortController();
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      const error = new Error(`timed out after ${formatDuration(ms)}`);
      over.abort(error);
      late.reject(error);
    }, ms);
    return Promise.race([run(AbortSignal.any([signal, over.signal])), late.promise]).finally(() => clearTimeout(timer));
  }

  async #find(name: string, kind: StepKind): Promise<Step | undefined> {
    while (!this.#stored.has(name) && this.#next !== null) await this.#load();
    const stored = this.#stored.get(name);
    if (stored !== undefined && stored.kind !== kind)
      throw new StepChanged(name, `it was a ${stored.kind} and is a ${kind}`);
    return stored;
  }

  #load(): Promise<void> {
    this.#loading ??= this.#inner.readSteps(this.#next ?? 0).then(({ steps, next }) => {
      for (const step of steps) this.#stored.set(step.name, step);
      this.#next = next;
      this.#loading = undefined;
    });
    return this.#loading;
  }

  /** Resolves at this instant, or never, if the run is suspended before. */
  #wait(name: string, until: number): Promise<void> {
    this.#open.delete(name);
    return new Promise((resolve) => {
      const resume = () => {
        this.#waits.delete(name);
        this.#open.add(name);
        resolve();
      };
      this.#waits.set(name, { until, resume });
      this.#consider();
    });
  }

  /** Looks after one turn of the event loop whether nothing but waits is open. */
  #consider(): void {
    this.#turn += 1;
    const turn = this.#turn;
    if (!this.#isResting) return;
    setImmediate(() => {
      if (turn === this.#turn && this.#isResting) this.#rest();
    });
  }

  get #isResting(): boolean {
    return !this.#over && this.#open.size === 0 && this.#waits.size > 0;
  }

  #rest(): void {
    clearTimeout(this.#timer);
    const now = this.#inner.now();
    const due = [...this.#waits.values()].filter(({ until }) => until <= now);
    if (due.length > 0) return due.forEach(({ resume }) => resume());
    const left = Math.min(...this.#waits.values().map(({ until }) => until)) - now;
    const { suspendAfterMs, signal } = this.#inner;
    if (left <= suspendAfterMs && !signal.aborted) this.#timer = setTimeout(() => this.#consider(), left);
    else {
      this.#over = true;
      this.#inner.suspend([...this.#waits.keys()]);
    }
  }
}

interface Try {
  name: string;
  body: Body;
  options: StepOptions<Schema | undefined>;
  attempt: number;
}

/** Each time another one: what waits for it can be collected with it. */
function never(): Promise<never> {
  return new Promise<never>(() => undefined);
}
