/** A workflow that is submitted. */

import type { NewJob } from '../job.ts';
import type { Notify } from '../notify.ts';
import type { Condition } from './conditions.ts';
import type { DefinitionVersion } from './definition.ts';

/** A new step. Its parents are indexes of earlier steps in the list, so the list is in topological order. */
export interface NewStep {
  key: string;
  /** Has no dependencies: the step has parents. */
  job: NewJob;
  parents: readonly number[];
  /** Judged for all parents together, once all have ended. */
  condition: Condition;
  /** Set for a group: its items are claimed, not the step itself. */
  forEach: NewForEach | null;
  /** The job of an earlier workflow whose result this step takes over: it is `done` without running. */
  keepFrom: number | null;
}

export interface NewForEach {
  /** The list, or the path to it in the result of a parent. */
  items: readonly unknown[] | { parent: number; path: readonly string[] };
  /** `null`: no limit. */
  maxParallel: number | null;
}

/**
 * The steps of a new workflow. They may be iterated several times, with the same result: a list, or a generator of steps,
 * so that a hundred thousand need not be in memory at once.
 */
export interface NewSteps extends Iterable<NewStep> {
  readonly length: number;
}

export interface NewWorkflow<Steps extends NewSteps = NewSteps> {
  name: string;
  /** The notify targets of its end. */
  notify?: readonly Notify[];
  params: Readonly<Record<string, unknown>>;
  steps: Steps;
  rerunOf: number | null;
  /** The stored definition that it was made from. */
  definition?: DefinitionVersion;
  /** Who submits it and all its steps. */
  submittedBy?: string | null;
}

/** A workflow that is kept as a whole, to be inserted repeatedly. */
export type ListedWorkflow = NewWorkflow<readonly NewStep[]>;
