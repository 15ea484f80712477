/** A workflow on its way into a store. */

import type { NewJob } from '../job.ts';
import type { Notify } from '../notify.ts';
import type { Condition } from './conditions.ts';

/** One step on its way in. Parents are places of earlier steps in the list, so the list is in topological order. */
export interface NewStep {
  key: string;
  /** Without dependencies of its own. */
  job: NewJob;
  parents: readonly number[];
  /** About its parents together, once all have ended. */
  condition: Condition;
  /** Not claimed itself: it is a group of items. */
  forEach: NewForEach | null;
  /** Repeats this step of an earlier workflow without running it: `done`, with that job's result. */
  keepFrom: number | null;
}

export interface NewForEach {
  /** The list, or where it comes from once the step is free: a parent's result, or what its path leads to in it. */
  items: readonly unknown[] | { parent: number; path: readonly string[] };
  /** `null`: all at once. */
  maxParallel: number | null;
}

/**
 * The steps of a workflow on their way in. They may be walked several times, and are the same each time: a list of steps
 * will do, and so will what makes each step when its turn comes, so that a hundred thousand need not be there at once.
 */
export interface NewSteps extends Iterable<NewStep> {
  readonly length: number;
}

export interface NewWorkflow<Steps extends NewSteps = NewSteps> {
  name: string;
  /** Who is told of its end. */
  notify?: readonly Notify[];
  params: Readonly<Record<string, unknown>>;
  steps: Steps;
  rerunOf: number | null;
}

/** One that is kept as a whole, to be stored again and again. */
export type ListedWorkflow = NewWorkflow<readonly NewStep[]>;
