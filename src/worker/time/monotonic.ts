import { uptime } from 'node:os';

/**
 * Milliseconds that never go back and that go on while the machine sleeps, where the system can tell (Linux): a laptop
 * whose lid was closed must find its leases over when it wakes. The same in every thread.
 */
export const monotonicMs: () => number =
  process.platform === 'linux' ? () => uptime() * 1_000 : () => Number(process.hrtime.bigint()) / 1e6;
