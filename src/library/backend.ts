/** Where an application's jobs are kept: a store of this process, or a server behind HTTP. */

import type { Mounted, MountOptions } from '../http/mount.ts';
import type { Metrics } from '../ops/metrics.ts';
import type { JobSource } from '../worker/job-source.ts';
import type { Engine } from './engine.ts';

export interface Backend {
  readonly engine: Engine;
  /** Absent if the server counts. */
  readonly metrics?: Metrics;
  /** Jobs for a worker of this process. */
  source(): JobSource & Partial<AsyncDisposable>;
  /** Runs the scheduler's duties until `signal` aborts. Over HTTP the server has them, so this resolves at once. */
  runDuties(signal: AbortSignal): Promise<void>;
  /** The HTTP API for a server of the application. */
  mount(options: MountOptions): Promise<Mounted>;
  /** From now on, claims and waits return early. */
  drain(): void;
  /** Also closes what `mount` returned. */
  close(): Promise<void>;
}
