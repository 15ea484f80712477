/** Workflows and their steps, as stores return them. */

import type { Job } from '../job.ts';
import type { Notify } from '../notify.ts';
import type { Condition } from './conditions.ts';
import type { DefinitionVersion } from './definition.ts';
import type { StepCounts, WorkflowStatus } from './workflow-status.ts';

export interface Workflow {
  id: number;
  name: string;
  notify: readonly Notify[];
  params: Readonly<Record<string, unknown>>;
  status: WorkflowStatus;
  createdAt: number;
  /** The instant of the first claim of a step. */
  startedAt: number | null;
  endedAt: number | null;
  rerunOf: number | null;
  /** The stored definition that it was made from. */
  definition: DefinitionVersion | null;
  /** Who submitted it; `null` if the caller has no name, or a schedule runs it. */
  submittedBy: string | null;
  /** The number of steps, not counting items. */
  total: number;
  counts: StepCounts;
}

export interface WorkflowStep {
  job: Job;
  key: string;
  condition: Condition;
  /** `null` for a step that is not a group. */
  group: GroupState | null;
}

export interface GroupState {
  /** The source of the items as it was submitted. A parent is given by its job id. */
  source: readonly unknown[] | { parentId: number; path: readonly string[] };
  /** `null` until its list is known. */
  total: number | null;
  maxParallel: number | null;
  /** The number of items inserted so far. */
  inserted: number;
  counts: StepCounts;
}

export interface WorkflowFilter {
  status?: WorkflowStatus;
  name?: string;
  /** Made from a version of this definition. */
  definition?: string;
}
