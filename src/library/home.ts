/** Where an application's jobs live: a store of this process, or a scheduler behind HTTP. */

import type { JobSource } from '../worker/job-source.ts';
import type { Engine } from './engine.ts';

export interface Home {
  readonly engine: Engine;
  /** Jobs for a worker of this process. */
  source(): JobSource & Partial<AsyncDisposable>;
  /** Runs the scheduler's duties until `signal` aborts. Nothing to do where a scheduler elsewhere has them. */
  runDuties(signal: AbortSignal): Promise<void>;
  /** From now on no claim or wait takes long. */
  drain(): void;
  close(): Promise<void>;
}
