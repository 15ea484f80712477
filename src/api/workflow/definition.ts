/** A workflow as its file defines it, and its steps once the parameters are known. */

import type { Condition } from '../../core/dag/conditions.ts';
import type { NotifyList } from '../notify.ts';
import type { Param, ParamValue } from './params.ts';
import type { FileForEach, MappedStep, WorkflowStep } from './step.ts';

/** The job of a step, with the defaults of the file filled in. Durations are milliseconds. */
export type StepJob = Omit<MappedStep, 'depends_on' | 'if' | 'for_each' | 'max_parallel' | 'continue_on_failure'>;

export interface StepDefinition {
  key: string;
  job: StepJob;
  dependsOn: readonly string[];
  if: Condition;
  forEach: FileForEach | null;
  maxParallel: number | null;
  continueOnFailure: boolean;
}

export interface WorkflowDefinition {
  name: string;
  description: string | null;
  params: readonly Param[];
  notify: NotifyList;
  /** In the order of the file. Keys are distinct, every dependency is one of them, and there is no cycle. */
  steps: readonly StepDefinition[];
}

/** Returns the steps to submit. `values` are those of `resolveParams`; for_each lists are taken from them. */
export function toSteps(definition: WorkflowDefinition, values: ReadonlyMap<string, ParamValue>): WorkflowStep[] {
  return definition.steps.map((step) => ({
    key: step.key,
    ...step.job,
    depends_on: [...step.dependsOn],
    if: step.if,
    ...(step.forEach === null ? {} : { for_each: resolveForEach(step.forEach, values) }),
    ...(step.maxParallel === null ? {} : { max_parallel: step.maxParallel }),
    continue_on_failure: step.continueOnFailure,
  }));
}

/** A parameter that was left out is an empty list. */
function resolveForEach(
  forEach: FileForEach,
  values: ReadonlyMap<string, ParamValue>,
): NonNullable<WorkflowStep['for_each']> {
  if (Array.isArray(forEach)) return forEach;
  if (forEach.output !== undefined) return { output: forEach.output };
  return (values.get(forEach.param as string) ?? []) as unknown[];
}
