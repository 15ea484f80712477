/** How hard the suite tries. */
export interface Effort {
  /** Cancel against settle against reap on one job. */
  races: number;
  /** Ends, submissions and cancels that meet on the same edges. */
  graphRaces: number;
  /** Queued jobs of one tenant, and tenants of one queue. */
  fairJobs: number;
  fairKeys: number;
}

/** For every day. */
export const EVERYDAY: Effort = { races: 120, graphRaces: 20, fairJobs: 1_000, fairKeys: 500 };
