/** Finds for_each lists that do not exist. */

import { nearestWord } from '../../core/suggest.ts';
import type { StepDefinition, WorkflowDefinition } from './definition.ts';
import type { StepPaths } from './lint.ts';
import type { Finding } from './source.ts';
import { splitOutput } from './step.ts';

export function lintForEach(definition: WorkflowDefinition, pathOf: StepPaths): Finding[] {
  const stepKeys = new Set(definition.steps.map(({ key }) => key));
  return definition.steps.flatMap((step, place): Finding[] => {
    const { forEach } = step;
    const path = [...pathOf(place), 'for_each'];
    if (forEach === null) return [];
    if (Array.isArray(forEach)) {
      return forEach.length > 0
        ? []
        : [{ severity: 'warning', message: 'for_each: the list is empty, so nothing runs', path, at: 'value' }];
    }
    const source = forEach.param === undefined ? 'output' : 'param';
    const message =
      forEach.param === undefined
        ? outputProblem(step, splitOutput(forEach.output as string).step, stepKeys)
        : paramProblem(definition, forEach.param);
    return message === undefined
      ? []
      : [{ severity: 'error', message: `for_each: ${message}`, path: [...path, source], at: 'value' }];
  });
}

function paramProblem({ params }: WorkflowDefinition, name: string): string | undefined {
  const param = params.find((each) => each.name === name);
  if (param === undefined)
    return `there is no parameter "${name}"${suggestion(
      name,
      params.map((each) => each.name),
    )}`;
  return param.type === 'list' ? undefined : `the parameter "${name}" is of type ${param.type}, expected a list`;
}

function outputProblem(step: StepDefinition, source: string, stepKeys: ReadonlySet<string>): string | undefined {
  if (step.dependsOn.includes(source)) return undefined;
  if (source === step.key) return 'a step cannot run over its own result';
  if (!stepKeys.has(source)) return `there is no step "${source}"${suggestion(source, step.dependsOn)}`;
  return `"${source}" is not a parent of "${step.key}"; add it to depends_on`;
}

function suggestion(name: string, known: readonly string[]): string {
  const near = nearestWord(name, known);
  return near === undefined ? '' : ` (did you mean "${near}"?)`;
}
