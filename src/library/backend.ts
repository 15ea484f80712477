/**
 * The two places where an application's jobs can be kept: a store of this process, or a server behind HTTP. A backend
 * owns the connections and their lifecycle: duties, worker, mounted API, drain and close. The calls themselves are its
 * `engine`, which is separate because handles, handlers and threads need only the calls.
 */

import type { Mounted, MountOptions } from '../http/mounted.ts';
import type { Metrics } from '../ops/metrics.ts';
import type { JobSource } from '../worker/job-source.ts';
import type { Engine } from './engine.ts';

export interface Backend {
  readonly engine: Engine;
  /** Records completions; absent over HTTP, where the server records them. */
  readonly metrics?: Metrics;
  /** Jobs for a worker of this process. */
  source(): JobSource & Partial<AsyncDisposable>;
  /** Runs the scheduler's duties until `signal` aborts. Over HTTP the server has them, so this resolves at once. */
  runDuties(signal: AbortSignal): Promise<void>;
  /** Background loops of this process that have not had a round for too long, or have died. */
  stuck(): readonly string[];
  /** The HTTP API for a server of the application. */
  mount(options: MountOptions): Promise<Mounted>;
  /** From now on, claims and waits return early. */
  drain(): void;
  /** Closes the backend and what `mount` returned. */
  close(): Promise<void>;
}
