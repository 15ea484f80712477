/** Queues: their settings, and what waits and runs in them. */

export interface QueueSettings {
  paused: boolean;
  /** `null`: no limit. */
  maxRunning: number | null;
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
