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

export interface NewWorkflow {
  name: string;
  /** Who is told of its end. */
  notify?: readonly Notify[];
  params: Readonly<Record<string, unknown>>;
  steps: readonly NewStep[];
  rerunOf: number | null;
}
