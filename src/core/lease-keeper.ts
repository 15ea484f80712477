import type { Part } from './part.ts';

/**
 * Lets a thread renew a worker's lease while the worker's event loop is blocked: `module` exports `connect(data):
 * LeaseKeeperConnection`, and `data` can be copied into a thread.
 */
export interface LeaseKeeperPlan {
  module: Part;
  data: unknown;
}

/** Opened when the worker's event loop is blocked, closed when it runs again. */
export interface LeaseKeeperConnection extends AsyncDisposable {
  /** Renews every lease that the worker holds and returns no jobs; resolves once that is stored. */
  renew(workerId: number, signal: AbortSignal): Promise<void>;
}
