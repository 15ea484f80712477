/** What an application wants to happen around every submission and every run. */

import type { JobContext } from './context.ts';
import type { Handle } from './handle.ts';
import type { SubmitOptions } from './options.ts';

export interface SubmitCall {
  /** The job's name; `null` for a command. */
  readonly job: string | null;
  /** One for each job of the call. */
  readonly inputs: readonly unknown[];
  /** May be replaced before `next`: variables added, say. */
  options: SubmitOptions;
}

export interface RunCall {
  readonly job: string;
  /** As the schema made it. */
  readonly input: unknown;
  readonly context: JobContext;
}

export interface Middleware {
  /** Answers with what `next` answers with. */
  submit?: (call: SubmitCall, next: () => Promise<readonly Handle[]>) => Promise<readonly Handle[]>;
  /** Likewise; what it throws is the job's failure. */
  run?: (call: RunCall, next: () => unknown) => unknown;
}

/** The first is the outermost. */
export function aroundSubmit(
  middleware: readonly Middleware[],
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

export function aroundRun(middleware: readonly Middleware[], call: RunCall, run: () => unknown): unknown {
  const from = (place: number): unknown => {
    const layer = middleware[place];
    if (layer === undefined) return run();
    return layer.run === undefined ? from(place + 1) : layer.run(call, () => from(place + 1));
  };
  return from(0);
}
