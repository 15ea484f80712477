/** The answer of a claim statement. */

import type { StoredSpec } from '../../spec.ts';

/** Arrays of equal length, one element per job; `null` if nothing was claimed. */
export interface TakenRow {
  state: string | null;
  wanted: number;
  now: number;
  /** Nothing was taken, because the places of gangs have to be looked at. */
  placed: boolean;
  /** The row of `claim`. */
  claim: number | null;
  ids: number[] | null;
  /** `null` if there is only one lane. */
  lanes: number[] | null;
  dues: number[];
  /** By id, only jobs that differ from `PLAIN_LIVE`. */
  more_live: Record<string, MoreLive> | null;
  /** The ids in the order of `specs`; `null` if that is the order of `ids`. */
  job_ids: number[] | null;
  specs: StoredSpec[];
  /** By id, only jobs that differ from `PLAIN_JOB`. */
  more_job: Record<string, MoreJob> | null;
}

type MoreLive = [attempt: number, flags: number, turn: number, failures: number | null];

type MoreJob = [
  priority: number,
  name: string | null,
  tags: string[],
  workflowId: number | null,
  stepKey: string | null,
  groupId: number | null,
  groupIndex: number | null,
];

export const PLAIN_LIVE: MoreLive = [1, 0, 0, null];
export const PLAIN_JOB: MoreJob = [0, null, [], null, null, null, null];

/** Returns the specs in the order of `ids`. */
export function specsOf({ ids, job_ids: jobIds, specs }: TakenRow): readonly StoredSpec[] {
  if (ids === null || jobIds === null) return specs;
  const byId = new Map(jobIds.map((id, place) => [id, specs[place] as StoredSpec]));
  return ids.map((id) => byId.get(id) as StoredSpec);
}
