/**
 * The library's calls: the operations of the API in camelCase, and those that need more than a request. They go to a scheduler in this
 * process or a server behind HTTP. An engine has no lifecycle: it belongs to a `Backend`, which opens and closes what the calls use.
 */

import { type Calls, callsTo, type Sender } from '../api/calls.ts';
import { toCamel, toWire } from '../api/case.ts';
import { clientRoutes } from '../api/client-routes.ts';
import type { RunStatement } from '../store/transactional.ts';
import type { JobType } from './job.ts';
import type { Job } from './messages.ts';
import { withOptionNames } from './option-errors.ts';
import type { JobTemplate } from './options.ts';

/** The operations of the API in camelCase. */
export type ApiCalls = Calls<typeof clientRoutes, 'camel'>;

export function apiCalls(sender: Sender): ApiCalls {
  const named: Sender = { ...sender, json: (route, call) => withOptionNames(sender.json(route, call)) };
  return callsTo<typeof clientRoutes, 'camel'>(clientRoutes, named, { encode: toWire, decode: toCamel });
}

export interface Request {
  template: JobTemplate;
  /** The input as JSON, after its check; `undefined` for a command. */
  input?: unknown;
}

export interface Submitted {
  id: string;
  deduplicated: boolean;
}

interface EngineSubmitOptions {
  /** The idempotency key, and a fingerprint of the requests. */
  idempotency?: { key: string; fingerprint: string };
  /** Who submits. */
  actor?: string;
}

export interface Completion {
  jobId: number;
  attempt: number;
  workerId: number;
  exitCode: null;
  result: unknown;
}

export interface OwnCalls {
  /** Submits all jobs or none, in order; a gang is as many as its size. Resolves once they are on disk. */
  submit(
    requests: readonly Request[],
    options: EngineSubmitOptions,
    signal: AbortSignal | undefined,
  ): Promise<Submitted[]>;
  /** Submits inside a transaction of the application; `bad_request` if the backend does not support it. */
  enlist(
    requests: readonly Request[],
    run: RunStatement,
    options: Pick<EngineSubmitOptions, 'actor'> & { signal: AbortSignal },
  ): Promise<Submitted[]>;
  /** Ends an attempt as done inside a transaction of the application. `flush` writes what it has logged and reported. */
  complete(success: Completion, run: RunStatement, flush: () => Promise<unknown> | undefined): Promise<void>;
  /** From now on, inputs of workflow steps are checked against the schemas of these jobs. Absent over HTTP. */
  checkStepsOf?(jobs: readonly JobType[]): void;
  /** Returns the job once it has ended, or as it is after `timeoutMs` or earlier. */
  wait(id: string, timeoutMs: number, signal: AbortSignal): Promise<Job>;
}

export interface Engine extends OwnCalls {
  readonly api: ApiCalls;
}

/** The calls of a job's handle. */
export interface JobCalls extends Pick<OwnCalls, 'wait'> {
  readonly api: Pick<ApiCalls, 'readJob' | 'cancelJob' | 'retryJob'>;
}
