/** Where an application's jobs live: a store of this process, or a scheduler behind HTTP. */

import type { Mounted, MountOptions } from '../http/mount.ts';
import type { JobSource } from '../worker/job-source.ts';
import type { Engine } from './engine.ts';

export interface Backend {
  readonly engine: Engine;
  /** Jobs for a worker of this process. */
  source(): JobSource & Partial<AsyncDisposable>;
  /** Runs the scheduler's duties until `signal` aborts. Nothing to do where a scheduler elsewhere has them. */
  runDuties(signal: AbortSignal): Promise<void>;
  /** The HTTP API for a server of the application's own. */
  mount(options: MountOptions): Promise<Mounted>;
  /** From now on no claim or wait takes long. */
  drain(): void;
  close(): Promise<void>;
}
