/** Processes that share a store. */

export interface NewInstance {
  id: string;
  host: string;
  pid: number;
  roles: readonly string[];
  version: string;
  /** The address of its API; `null` if it has none. */
  url: string | null;
  beatMs: number;
}

export interface InstanceRow extends NewInstance {
  /** `offline` after `MISSED_BEATS` missed beats. */
  state: 'online' | 'offline';
  startedAt: number;
  seenAt: number;
}

/** The number of missed beats after which an instance is offline. */
export const MISSED_BEATS = 3;
