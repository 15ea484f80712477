/** Kinds of jobs: a name, a schema for the input, and a function. */

import { WorkronError } from '../core/error.ts';
import type { JobContext } from './context.ts';
import type { Json, Returns } from './json.ts';
import { type JobOptions, type JobTemplate, type KeyLimit, type KeyRate, type OfInput, templateOf } from './options.ts';
import type { InputOf, OutputOf, Schema } from './schema.ts';

/** Options of a job, of which limits and rates may be functions of its input: `limits: ({ customer }) => [{ key: customer, max: 2 }]`. */
type OptionsWith<Input> = Omit<JobOptions, 'limits' | 'rates'> & {
  limits?: readonly KeyLimit[] | ((input: Input) => readonly KeyLimit[]) | undefined;
  rates?: readonly KeyRate[] | ((input: Input) => readonly KeyRate[]) | undefined;
};

/** A kind of job that can be submitted. */
export interface JobType<Input = never, Result = unknown> {
  readonly name: string;
  readonly input: Schema | null;
  /** A submission that has only the job's own options. */
  readonly template: JobTemplate;
  readonly options: JobOptions;
  /** Options that depend on the input. */
  readonly ofInput: OfInput | null;
  /** Carries types; has no value at run time. */
  readonly '~types'?: { input: (value: Input) => void; result: Result } | undefined;
}

/** A kind of job that can also be run. */
export interface RunnableJob<Input = never, Result = unknown> extends JobType<Input, Result> {
  readonly run: (input: never, context: JobContext) => unknown;
  readonly isolate: string | null;
}

/** A job without its function, which the submitting and the running program share. */
export interface DeclaredJob<Input, Output, Result> extends JobType<Input, Result> {
  /** Returns the same job with its function. */
  handle(
    run: (input: Output, context: JobContext) => Result | Promise<Result>,
    options?: Pick<Definition, 'isolate'>,
  ): RunnableJob<Input, Result>;
}

interface Definition {
  /**
   * Runs each attempt in its own thread, which is terminated when the attempt must end. The thread loads the module that
   * defines the job; pass `import.meta.url` if the module is bundled.
   */
  isolate?: boolean | string | undefined;
}

interface Declaration<S extends Schema | undefined, R extends Schema | undefined> {
  input?: S;
  /** The schema of its result. */
  result?: R;
}

interface Loose extends OptionsWith<never> {
  input?: Schema | undefined;
  result?: Schema | undefined;
  run?: unknown;
  isolate?: boolean | string | undefined;
}

/** A job with a schema for its input. */
export function job<S extends Schema, Result>(
  name: string,
  definition: Definition &
    OptionsWith<InputOf<S>> & {
      input: S;
      run: (input: OutputOf<S>, context: JobContext) => Result;
    } & Returns<Result>,
): RunnableJob<InputOf<S>, Json<Awaited<Result>>>;
/** A job without a schema: its input has the type of the function's parameter and is not checked. */
export function job<Input, Result>(
  name: string,
  definition: Definition &
    OptionsWith<Input> & { input?: undefined; run: (input: Input, context: JobContext) => Result } & Returns<Result>,
): RunnableJob<Input, Json<Awaited<Result>>>;
/** A job that another program runs. */
export function job<S extends Schema | undefined = undefined, R extends Schema | undefined = undefined>(
  name: string,
  declaration?: Declaration<S, R> &
    OptionsWith<S extends Schema ? InputOf<S> : unknown> & { run?: undefined; isolate?: undefined },
): DeclaredJob<
  S extends Schema ? InputOf<S> : unknown,
  S extends Schema ? OutputOf<S> : unknown,
  R extends Schema ? OutputOf<R> : unknown
>;
export function job(name: string, definition: Loose = {}): unknown {
  const { input = null, result: _, run, isolate, limits, rates, ...others } = definition;
  const ofInput = {
    ...(typeof limits === 'function' && { limits }),
    ...(typeof rates === 'function' && { rates }),
  };
  const options: JobOptions = {
    ...others,
    ...(typeof limits === 'object' && { limits }),
    ...(typeof rates === 'object' && { rates }),
  };
  const template = templateOf({ handler: name }, options);
  const declared = { name, input, options, template, ofInput: Object.keys(ofInput).length === 0 ? null : ofInput };
  if (run !== undefined) return runnable(declared, run as RunnableJob['run'], isolate);
  return {
    ...declared,
    handle: (later: RunnableJob['run'], more: Pick<Definition, 'isolate'> = {}) =>
      runnable(declared, later, more.isolate),
  };
}

function runnable(declared: JobType, run: RunnableJob['run'], isolate: boolean | string = false): RunnableJob {
  if (typeof run !== 'function')
    throw new WorkronError('bad_request', `run: expected a function for the job ${declared.name}`);
  return { ...declared, run, isolate: isolate === false ? null : isolate === true ? callingModule() : isolate };
}

/** Returns the module that called `job`, which the thread has to load. */
function callingModule(): string {
  const frames = new Error('where').stack?.split('\n').slice(1) ?? [];
  const own = import.meta.url;
  for (const frame of frames) {
    const place = /\(?((?:file:\/\/)?\/.*?):\d+:\d+\)?$/.exec(frame)?.[1];
    if (place !== undefined && place !== own && `file://${place}` !== own) return place;
  }
  throw new WorkronError('bad_request', 'isolate: expected import.meta.url, as the module of the job cannot be found');
}

/** True if a value, such as an export of a module, is a job with its function. */
export function isRunnable(value: unknown): value is RunnableJob {
  return typeof value === 'object' && value !== null && 'template' in value && 'run' in value && 'name' in value;
}
