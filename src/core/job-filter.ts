/** Lists of jobs: what selects them, and how they are listed: long fields are cut, so that no list is large. */

import type { Dependency, Job, Reason, Status } from './job.ts';

/** Selects jobs. All given fields must match. */
export interface JobFilter {
  workflowId?: number;
  /** Items of this group. */
  groupId?: number;
  statuses?: readonly Status[];
  queue?: string;
  name?: string;
  uniqueKey?: string;
  /** Who submitted it. */
  submittedBy?: string;
  /** The job has all of these tags. */
  tags?: readonly string[];
  workerId?: number;
  reason?: Reason;
  /** Created in [from, to). */
  createdFrom?: number;
  createdTo?: number;
  /** A part of the name, command, error or input, case-insensitive; spaces in the input are ignored. */
  text?: string;
  /** A part of the error, case-insensitive. */
  error?: string;
  ids?: readonly number[];
  /** Children of this job. */
  parentId?: number;
  /** Searches only this many jobs, those with the highest ids. */
  newest?: number;
}

/** Longer text is cut to this number of characters; JSON whose text is longer is left out. */
export const MAX_LISTED_LENGTH = 4_096;
/** A list names only the first parents of a job. */
export const MAX_LISTED_PARENTS = 100;

/** The fields that a list may cut, by their names on the wire. */
export const CUT_FIELDS = ['command', 'input', 'env', 'notify', 'error', 'thrown', 'result', 'depends_on'] as const;
export type CutField = (typeof CUT_FIELDS)[number];

export interface ListedJob extends Job {
  /** The fields that are shortened (text, parents) or left out (JSON). Absent if the job is whole. */
  cut?: readonly CutField[];
}

/** Marks what a store has cut, and cuts the parents, of which it reads one too many. */
export function listedJob(job: Job, cutByStore: readonly CutField[]): ListedJob {
  const cut: CutField[] = [...cutByStore];
  let dependsOn: readonly Dependency[] = job.dependsOn;
  if (dependsOn.length > MAX_LISTED_PARENTS) {
    dependsOn = dependsOn.slice(0, MAX_LISTED_PARENTS);
    cut.push('depends_on');
  }
  return cut.length === 0 ? job : { ...job, dependsOn, cut };
}
