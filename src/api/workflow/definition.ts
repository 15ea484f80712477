/** A workflow as its file defines it, and the steps that come of it once the parameters are known. */

import type { Condition } from '../../core/dag/conditions.ts';
import type { NotifyList } from '../notify.ts';
import type { Param, ParamValue } from './params.ts';
import type { FileForEach, MappedStep, WorkflowStep } from './step.ts';

/** What a step does and how, with the file's defaults filled in. Durations are milliseconds. */
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
  /** As in the file. Keys are distinct and every dependency is one of them; there is no cycle. */
  steps: readonly StepDefinition[];
}

/** The steps to submit, with lists to run over from `values`, as `resolveParams` gave them. */
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
