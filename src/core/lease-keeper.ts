/**
 * How a thread beside a worker can renew the worker's lease without the worker's own loop: `module` exports
 * `connect(data): LeaseKeeperConnection`, and `data` can be copied into a thread.
 */
export interface LeaseKeeperPlan {
  module: string;
  data: unknown;
}

/** Opened when the worker falls silent, closed when it is back. */
export interface LeaseKeeperConnection extends AsyncDisposable {
  /** Renews whatever the worker holds and gives nothing back; resolves once that is on record. */
  renew(workerId: number, signal: AbortSignal): Promise<void>;
}
