/** Limits and rates as they are listed. */

export interface LimitState {
  key: string;
  /** What a person has set for all jobs with the key; `null`: each job has its own. */
  max: number | null;
  running: number;
  /** Jobs that a claim has found to wait for the key. */
  waiting: number;
}

export interface RateState {
  key: string;
  /** Attempts that started within the longest window that a job has asked for. */
  started: number;
  /** A handler has closed it; it opens then. `null`: it is open. */
  opensAt: number | null;
  /** Jobs that a claim has found to wait for the key. */
  waiting: number;
}
