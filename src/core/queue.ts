/** Queues: their settings and the number of jobs in each status. */

import type { Rate } from './meter.ts';

export interface QueueSettings {
  paused: boolean;
  /** `null`: no limit. */
  maxRunning: number | null;
  /** How many attempts of its jobs start in a while; `null`: no limit. */
  rate: Omit<Rate, 'key'> | null;
}

/** How many of its jobs could start if none had before. */
export function mostOf({ maxRunning, rate }: Pick<QueueSettings, 'maxRunning' | 'rate'>): number {
  return Math.min(
    maxRunning ?? Number.POSITIVE_INFINITY,
    rate === null ? Number.POSITIVE_INFINITY : rate.limit + rate.burst,
  );
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
