/** What a job is to the program that submits or runs it: a name, the template of its input, and a function. */

import { WorkronError } from '../core/error.ts';
import type { JobContext } from './context.ts';
import type { Json } from './json.ts';
import { type JobOptions, type JobTemplate, templateOf } from './options.ts';
import type { InputOf, OutputOf, Schema } from './schema.ts';

/** A kind of job that can be submitted. */
export interface JobType<Input = never, Result = unknown> {
  readonly name: string;
  readonly input: Schema | null;
  /** A submission with nothing but the job's own options. */
  readonly template: JobTemplate;
  readonly options: JobOptions;
  /** For the compiler only. */
  readonly '~types'?: { input: (value: Input) => void; result: Result } | undefined;
}

/** A kind of job that can also be run. */
export interface RunnableJob<Input = never, Result = unknown> extends JobType<Input, Result> {
  readonly run: (input: never, context: JobContext) => unknown;
  readonly isolate: string | null;
}

/** A job whose function is elsewhere: what the submitting and the running side share. */
export interface DeclaredJob<Input, Output, Result> extends JobType<Input, Result> {
  /** The same job with its function. */
  handle(
    run: (input: Output, context: JobContext) => Result | Promise<Result>,
    options?: Pick<Definition, 'isolate'>,
  ): RunnableJob<Input, Result>;
}

interface Definition extends JobOptions {
  /** Runs in a thread of its own, which ends when its time is over. The module that defines the job is loaded there; name it by `import.meta.url` where it is bundled. */
  isolate?: boolean | string;
}

interface Declaration<S extends Schema | undefined, R extends Schema | undefined> extends JobOptions {
  input?: S;
  /** The template of its result. */
  result?: R;
}

interface Loose extends JobOptions {
  input?: Schema | undefined;
  result?: Schema | undefined;
  run?: unknown;
  isolate?: boolean | string | undefined;
}

/** A job with a schema for its input. */
export function job<S extends Schema, Result>(
  name: string,
  definition: Definition & {
    input: S;
    run: (input: OutputOf<S>, context: JobContext) => Result;
  },
): RunnableJob<InputOf<S>, Json<Awaited<Result>>>;
/** A job whose input is what its function takes, unchecked. */
export function job<Input, Result>(
  name: string,
  definition: Definition & { input?: undefined; run: (input: Input, context: JobContext) => Result },
): RunnableJob<Input, Json<Awaited<Result>>>;
/** A job that is run elsewhere. */
export function job<S extends Schema | undefined = undefined, R extends Schema | undefined = undefined>(
  name: string,
  declaration?: Declaration<S, R> & { run?: undefined; isolate?: undefined },
): DeclaredJob<
  S extends Schema ? InputOf<S> : unknown,
  S extends Schema ? OutputOf<S> : unknown,
  R extends Schema ? OutputOf<R> : unknown
>;
export function job(name: string, definition: Loose = {}): unknown {
  const { input = null, result: _, run, isolate, ...options } = definition;
  const template = templateOf({ handler: name }, options);
  const declared = { name, input, options, template };
  if (run !== undefined) return runnable(declared, run as RunnableJob['run'], isolate);
  return {
    ...declared,
    handle: (later: RunnableJob['run'], more: Pick<Definition, 'isolate'> = {}) =>
      runnable(declared, later, more.isolate),
  };
}

function runnable(declared: JobType, run: RunnableJob['run'], isolate: boolean | string = false): RunnableJob {
  if (typeof run !== 'function') throw new WorkronError('bad_request', `The job ${declared.name} has no function`);
  return { ...declared, run, isolate: isolate === false ? null : isolate === true ? callingModule() : isolate };
}

/** Where `job` was called: that module is what a thread has to load. */
function callingModule(): string {
  const frames = new Error('where').stack?.split('\n').slice(1) ?? [];
  const own = import.meta.url;
  for (const frame of frames) {
    const place = /\(?((?:file:\/\/)?\/.*?):\d+:\d+\)?$/.exec(frame)?.[1];
    if (place !== undefined && place !== own && `file://${place}` !== own) return place;
  }
  throw new WorkronError('bad_request', 'isolate: name the module of the job by import.meta.url');
}

/** Whether a value, of a module's exports say, is a job with its function. */
export function isRunnable(value: unknown): value is RunnableJob {
  return typeof value === 'object' && value !== null && 'template' in value && 'run' in value && 'name' in value;
}
