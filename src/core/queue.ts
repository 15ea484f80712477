/** Queues: their settings and the number of jobs in each status. */

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
