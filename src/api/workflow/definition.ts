/** A workflow as its file defines it, and its steps once the parameters are known. */

import type { Condition } from '../../core/dag/conditions.ts';
import { invalid } from '../decode.ts';
import type { NotifyList } from '../notify.ts';
import type { Param, ParamValue } from './params.ts';
import type { FileForEach, MappedStep, WorkflowStep } from './step.ts';

/** The job of a step, with the defaults of the file filled in. Durations are milliseconds. */
type StepJob = Omit<MappedStep, 'depends_on' | 'if' | 'for_each' | 'max_parallel' | 'continue_on_failure'>;

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

/** How many items the lists of all steps may have that are taken from parameters. */
const MAX_PARAM_ITEMS = 1_000_000;

/** Returns the steps to submit. `values` are those of `resolveParams`; for_each lists are taken from them. Throws `bad_request` if these are too long in all. */
export function toSteps(definition: WorkflowDefinition, values: ReadonlyMap<string, ParamValue>): WorkflowStep[] {
  const items = definition.steps.reduce((sum, { forEach }) => sum + paramItems(forEach, values), 0);
  if (items > MAX_PARAM_ITEMS) {
    const detail = `the lists of for_each have ${items} items in all steps; at most ${MAX_PARAM_ITEMS}`;
    throw invalid([{ pointer: '/params', detail }]);
  }
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

function paramItems(forEach: FileForEach | null, values: ReadonlyMap<string, ParamValue>): number {
  if (forEach === null || Array.isArray(forEach) || forEach.param === undefined) return 0;
  return (values.get(forEach.param) as unknown[] | undefined)?.length ?? 0;
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
