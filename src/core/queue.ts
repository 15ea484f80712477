/** Queues: their settings and the number of jobs in each status. */

import type { Rate } from './meter.ts';

export interface QueueSettings {
  paused: boolean;
  /** `null`: no limit. */
  maxRunning: number | null;
  /** How many attempts of its jobs start in a while; `null`: no limit. */
  rate: Omit<Rate, 'key'> | null;
}

export interface QueueState extends QueueSettings {
  name: string;
  pausedAt: number | null;
  blocked: number;
  scheduled: number;
  pending: number;
  running: number;
  oldestPendingAt: number | null;
}
