/** Checks inputs, converts options to the API's form, and passes jobs to the engine. */

import { createHash } from 'node:crypto';
import { WorkronError } from '../core/error.ts';
import { DEFAULT_SPEC } from '../core/job.ts';
import { NEVER } from '../core/never.ts';
import { checkInput } from './check-input.ts';
import type { Completion, Engine, JobCalls, Request, Submitted } from './engine.ts';
import { Handle } from './handle.ts';
import type { JobType } from './job.ts';
import { toJson } from './json.ts';
import { aroundSubmit, type OwnMiddleware } from './middleware.ts';
import { withOptionNames } from './option-errors.ts';
import { type JobTemplate, type SubmitOptions, templateOf, withInput } from './options.ts';
import { type AnySchedule, declarationOf, ScheduleHandle } from './schedule.ts';
import { runnerOf, type Transaction } from './transaction.ts';

interface SubmitterOptions {
  engine: Engine;
  middleware?: readonly OwnMiddleware[];
}

export class Submitter {
  readonly #engine: Engine;

  readonly middleware: readonly OwnMiddleware[];

  constructor({ engine, middleware = [] }: SubmitterOptions) {
    this.#engine = engine;
    this.middleware = middleware;
  }

  /** Calls for handles that are created outside of this class. */
  get calls(): JobCalls {
    return this.#engine;
  }

  /** Inputs of workflow steps that are submitted through this process must fit these jobs. */
  checkStepsOf(jobs: readonly JobType[]): void {
    this.#engine.checkStepsOf?.(jobs);
  }

  /** Submits one job per input, in order: all of them or none. */
  jobs(type: JobType, inputs: readonly unknown[], options: SubmitOptions | undefined): Promise<readonly Handle[]> {
    if (this.#isPlain) return this.#jobs(type, inputs, options);
    const queue = type.options.queue ?? DEFAULT_SPEC.queue;
    const call = { job: type.name, queue, inputs, options: options ?? {} };
    return aroundSubmit(this.middleware, call, (wanted) => this.#jobs(type, inputs, wanted));
  }

  async command(line: string, options: SubmitOptions | undefined): Promise<Handle> {
    const submit = (wanted: SubmitOptions) => this.#send([{ template: templateOf({ command: line }, wanted) }], wanted);
    const call = { job: null, queue: DEFAULT_SPEC.queue, inputs: [undefined], options: options ?? {} };
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
      const checked = checkInput(type, given);
      const input = checked instanceof Promise ? await checked : checked;
      requests.push({ template: withInput(template, type.ofInput, { input, options }), input });
    }
    return this.#send(requests, options);
  }

  async schedule(name: string, definition: AnySchedule): Promise<ScheduleHandle> {
    const { job, input } = definition;
    const declaration = declarationOf(definition, job === undefined ? undefined : await checkInput(job, input));
    await withOptionNames(this.#engine.api.putSchedule(name, declaration as never));
    return this.scheduleHandle(name);
  }

  scheduleHandle(name: string): ScheduleHandle {
    return new ScheduleHandle(this.#engine, name);
  }

  /** Ends an attempt as done inside a transaction of the application. `flush` writes what it has logged and reported. */
  complete(tx: Transaction, success: Completion, flush: () => Promise<unknown> | undefined): Promise<void> {
    return this.#engine.complete(success, runnerOf(tx), flush);
  }

  /** A fingerprint of the submission. Equal submissions have equal fingerprints. */
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
    { idempotencyKey, actor, signal = NEVER }: SubmitOptions,
  ): Promise<Handle[]> {
    if (idempotencyKey !== undefined) {
      throw new WorkronError('bad_request', 'idempotencyKey: not supported with tx; use unique instead');
    }
    const enlisted = await withOptionNames(
      this.#engine.enlist(requests, runnerOf(tx), { ...(actor !== undefined && { actor }), signal }),
    );
    return this.#handles(requests, enlisted);
  }

  async #send(requests: readonly Request[], options: SubmitOptions = {}): Promise<Handle[]> {
    const { idempotencyKey: key, actor, signal } = options;
    const how = {
      ...(key !== undefined && { idempotency: { key, fingerprint: fingerprint(requests) } }),
      ...(actor !== undefined && { actor }),
    };
    if (options.tx !== undefined) return await this.#enlist(requests, options.tx, options);
    const submitted = await withOptionNames(this.#engine.submit(requests, how, signal));
    return this.#handles(requests, submitted);
  }

  /** One for each request. Of a gang, it is that of rank 0, with those of the other members. */
  #handles(requests: readonly Request[], submitted: readonly Submitted[]): Handle[] {
    if (requests.length === submitted.length) return submitted.map((one) => this.handle(one));
    let start = 0;
    return requests.map(({ template }) => {
      const size = template.gang?.size ?? 1;
      const [first, ...others] = submitted.slice(start, start + size);
      start += size;
      if (first === undefined) throw new WorkronError('job_not_found', 'The jobs of this idempotencyKey were deleted');
      const { id, deduplicated } = first;
      const members = others.map((one) => this.handle(one));
      return new Handle(this.#engine, id, deduplicated, members);
    });
  }
}

/** Without options it is the job's own template, which has been checked before. */
function templateFor(type: JobType, options: SubmitOptions = {}): JobTemplate {
  return Object.keys(options).length === 0 ? type.template : templateOf({ handler: type.name }, type.options, options);
}

function fingerprint(requests: readonly { template: JobTemplate; input?: unknown }[]): string {
  return createHash('sha256').update(JSON.stringify(requests)).digest('base64url');
}
