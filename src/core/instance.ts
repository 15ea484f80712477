/** Processes that share a store. */

export interface NewInstance {
  id: string;
  host: string;
  pid: number;
  roles: readonly string[];
  version: string;
  /** Of its API; `null` where it has none. */
  url: string | null;
  beatMs: number;
}

export interface InstanceRow extends NewInstance {
  /** Offline: not heard for three beats. */
  state: 'online' | 'offline';
  startedAt: number;
  seenAt: number;
}

/** An instance that missed so many beats is offline. */
export const MISSED_BEATS = 3;
