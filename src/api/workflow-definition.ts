/** A workflow as its file defines it, and the steps that come of it once the parameters are known. */

import type { Condition } from '../core/dag/conditions.ts';
import { type Param, type ParamValue, paramEnvironment } from './workflow-params.ts';
import type { FileForEach, MappedStep, WorkflowStep } from './workflow-step.ts';

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
  /** As in the file. Keys are distinct and every dependency is one of them; there is no cycle. */
  steps: readonly StepDefinition[];
}

/** The steps to submit, with `values` as `resolveParams` gave them: in the environment of each, and as lists to run over. */
export function toSteps(definition: WorkflowDefinition, values: ReadonlyMap<string, ParamValue>): WorkflowStep[] {
  const params = paramEnvironment(values);
  return definition.steps.map((step) => {
    const env = { ...params, ...step.job.env };
    return {
      key: step.key,
      ...step.job,
      ...(Object.keys(env).length === 0 ? {} : { env }),
      depends_on: [...step.dependsOn],
      if: step.if,
      ...(step.forEach === null ? {} : { for_each: resolveForEach(step.forEach, values) }),
      ...(step.maxParallel === null ? {} : { max_parallel: step.maxParallel }),
      continue_on_failure: step.continueOnFailure,
    };
  });
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
