/** A claimable job with its place in the order of claims. The lane of a parked job is that of its parking. */
export interface Head {
  lane: number;
  rank: number;
  turn: number;
  due: number;
  job_id: number;
  /** Absent for jobs with limits or rates, which are not prefetched. */
  suspect?: boolean;
}

export function compareHeads(a: Head, b: Head): number {
  return a.rank - b.rank || a.turn - b.turn || a.due - b.due || a.job_id - b.job_id;
}
