/** Sizes of the suite's larger tests. */
export interface Effort {
  /** Races of cancel, settle and reap on one job. */
  races: number;
  /** Races of settle, submit and cancel on the same edges. */
  graphRaces: number;
  /** Waiting jobs of one fair key, and fair keys of one queue. */
  fairJobs: number;
  fairKeys: number;
  /** Random states in which `outlook` is compared with claims. */
  outlooks: number;
}

/** Small enough for every test run. */
export const EVERYDAY: Effort = { races: 120, graphRaces: 20, fairJobs: 1_000, fairKeys: 500, outlooks: 6 };
