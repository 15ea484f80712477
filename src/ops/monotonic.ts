import { uptime } from 'node:os';

/**
 * Milliseconds that never go back and, on Linux, also count while the machine is suspended: a laptop that wakes up must
 * find its leases expired. The same in every thread.
 */
export const monotonicMs: () => number =
  process.platform === 'linux' ? () => uptime() * 1_000 : () => Number(process.hrtime.bigint()) / 1e6;
