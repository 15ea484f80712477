/** From a call of `submit` to stored jobs: the input is checked, the options take their wire template, the engine does the rest. */

import { createHash } from 'node:crypto';
import { WorkronError } from '../core/error.ts';
import { NEVER } from '../core/never.ts';
import { checkInput } from './check-input.ts';
import type { Completion, Engine, JobCalls, Request, Submitted } from './engine.ts';
import { Handle } from './handle.ts';
import type { JobType } from './job.ts';
import { toJson } from './json.ts';
import { aroundSubmit, type Middleware } from './middleware.ts';
import { type JobTemplate, type SubmitOptions, templateOf } from './options.ts';
import { type AnySchedule, declarationOf, ScheduleHandle } from './schedule.ts';
import { runnerOf, type Transaction } from './transaction.ts';

export interface SubmitterOptions {
  engine: Engine;
  middleware?: readonly Middleware[];
}

export class Submitter {
  readonly #engine: Engine;

  readonly middleware: readonly Middleware[];

  constructor({ engine, middleware = [] }: SubmitterOptions) {
    this.#engine = engine;
    this.middleware = middleware;
  }

  /** For handles elsewhere. */
  get calls(): JobCalls {
    return this.#engine;
  }

  /** One job for each input: all or none, in order. */
  jobs(type: JobType, inputs: readonly unknown[], options: SubmitOptions | undefined): Promise<readonly Handle[]> {
    if (this.#isPlain) return this.#jobs(type, inputs, options);
    const call = { job: type.name, inputs, options: options ?? {} };
    return aroundSubmit(this.middleware, call, (wanted) => this.#jobs(type, inputs, wanted));
  }

  async command(line: string, options: SubmitOptions | undefined): Promise<Handle> {
    const submit = (wanted: SubmitOptions) => this.#send([{ template: templateOf({ command: line }, wanted) }], wanted);
    const call = { job: null, inputs: [undefined], options: options ?? {} };
    const [handle] = await aroundSubmit(this.middleware, call, submit);
    return handle as Handle;
  }

  get #isPlain(): boolean {
    return this.middleware.every(({ submit }) => submit === undefined);
  }

  async #jobs(type: JobType, inputs: readonly unknown[], options: SubmitOptions | undefined): Promise<Handle[]> {
    const template = templateFor(type, options);
    const requests: Request[] = [];
    for (const given of inputs) {
      const input = checkInput(type, given);
      requests.push({ template, input: input instanceof Promise ? await input : input });
    }
    return this.#send(requests, options);
  }

  async schedule(name: string, definition: AnySchedule): Promise<ScheduleHandle> {
    const { job, input } = definition;
    const declaration = declarationOf(definition, job === undefined ? undefined : await checkInput(job, input));
    await this.#engine.schedules.put(name, declaration, NEVER);
    return this.scheduleHandle(name);
  }

  scheduleHandle(name: string): ScheduleHandle {
    return new ScheduleHandle(this.#engine, name);
  }

  /** Ends an attempt as done inside a transaction of the application's own. */
  complete(tx: Transaction, success: Completion): Promise<void> {
    return this.#engine.complete(success, runnerOf(tx));
  }

  /** What makes two submissions of a job alike. */
  async contentOf(type: JobType, input: unknown, options: SubmitOptions | undefined): Promise<string> {
    const template = templateFor(type, options);
    return fingerprint([{ template, input: toJson(input, 'the input') }]);
  }

  handle<Result>({ id, deduplicated }: Submitted): Handle<Result> {
    return new Handle<Result>(this.#engine, id, deduplicated);
  }

  async #enlist(
    requests: readonly Request[],
    tx: Transaction,
    { idempotencyKey, signal = NEVER }: SubmitOptions,
  ): Promise<Handle[]> {
    if (idempotencyKey !== undefined) {
      throw new WorkronError('bad_request', 'idempotencyKey: in a transaction of your own use unique instead');
    }
    const enlisted = await this.#engine.enlist(requests, runnerOf(tx), signal);
    return enlisted.map((one) => this.handle(one));
  }

  async #send(requests: readonly Request[], options: SubmitOptions = {}): Promise<Handle[]> {
    const { idempotencyKey: key, signal } = options;
    const idempotency = key === undefined ? {} : { idempotency: { key, fingerprint: fingerprint(requests) } };
    if (options.tx !== undefined) return await this.#enlist(requests, options.tx, options);
    const submitted = await this.#engine.submit(requests, idempotency, signal);
    return submitted.map((one) => this.handle(one));
  }
}

/** The job's own template where nothing else is said: it has been looked at before. */
function templateFor(type: JobType, options: SubmitOptions = {}): JobTemplate {
  return Object.keys(options).length === 0 ? type.template : templateOf({ handler: type.name }, type.options, options);
}

function fingerprint(requests: readonly { template: JobTemplate; input?: unknown }[]): string {
  return createHash('sha256').update(JSON.stringify(requests)).digest('base64url');
}
