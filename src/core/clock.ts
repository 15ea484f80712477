/** Time and randomness are passed in, so that tests can control them. */

export interface Clock {
  /** Epoch milliseconds. */
  now(): number;
  /** Milliseconds since some instant. Never set, unlike `now`: a duration is measured by this. */
  monotonicMs(): number;
  /** Resolves after `ms`, or as soon as `signal` aborts. Never rejects. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

/** A number in [0, 1). */
export type Random = () => number;
