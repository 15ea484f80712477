/** Code of the application that wraps every submission and every run. */

import type { JobContext } from './context.ts';
import type { Handle } from './handle.ts';
import type { SubmitOptions } from './options.ts';

export interface SubmitCall {
  /** The job's name; `null` for a command. */
  readonly job: string | null;
  /** The queue of the job, unless `options` name another. */
  readonly queue: string;
  /** The inputs, one per job. */
  readonly inputs: readonly unknown[];
  /** Can be replaced before `next` is called, to add variables for example. */
  options: SubmitOptions;
}

export interface RunCall {
  readonly job: string;
  /** The input after its schema has parsed it. */
  readonly input: unknown;
  readonly context: JobContext;
}

export interface Middleware {
  /** Returns what `next` returns. */
  submit?: (call: SubmitCall, next: () => Promise<readonly Handle[]>) => Promise<readonly Handle[]>;
  /** Returns what `next` returns. An error that it throws fails the attempt. */
  run?: (call: RunCall, next: () => unknown) => unknown;
}

export interface OwnRunCall extends RunCall {
  /** Masks the secrets of the job in a text. */
  readonly mask: (text: string) => string;
}

/** A layer of our own that most runs do not need. */
export interface OwnMiddleware extends Omit<Middleware, 'run'> {
  run?: (call: OwnRunCall, next: () => unknown) => unknown;
  /** True if `run` would only call `next`. */
  passes?: (context: JobContext) => boolean;
}

/** Runs `submit` inside all layers. The first layer is the outermost. */
export function aroundSubmit(
  middleware: readonly OwnMiddleware[],
  call: SubmitCall,
  submit: (options: SubmitOptions) => Promise<readonly Handle[]>,
): Promise<readonly Handle[]> {
  const from = (place: number): Promise<readonly Handle[]> => {
    const layer = middleware[place];
    if (layer === undefined) return submit(call.options);
    return layer.submit === undefined ? from(place + 1) : layer.submit(call, () => from(place + 1));
  };
  return from(0);
}

export function aroundRun(middleware: readonly OwnMiddleware[], call: OwnRunCall, run: () => unknown): unknown {
  const from = (place: number): unknown => {
    const layer = middleware[place];
    if (layer === undefined) return run();
    return layer.run === undefined ? from(place + 1) : layer.run(call, () => from(place + 1));
  };
  return from(0);
}
