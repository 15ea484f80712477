/** Finds declarations of parameters that contradict themselves. */

import type { WorkflowDefinition } from './definition.ts';
import { type Param, paramProblem } from './params.ts';
import type { Finding } from './source.ts';

export function lintParams({ params }: WorkflowDefinition): Finding[] {
  return params.flatMap(lintParam);
}

function lintParam(param: Param): Finding[] {
  const findings: Finding[] = [];
  const wrong = (message: string, ...path: (string | number)[]): void => {
    findings.push({ severity: 'error', message, path: ['params', param.name, ...path], at: 'value' });
  };
  if (param.enum !== null && param.type === 'list') wrong('enum: a list cannot have one', 'enum');
  param.enum?.forEach((value, place) => {
    const problem = param.type === 'list' ? undefined : paramProblem({ type: param.type, enum: null }, value);
    if (problem !== undefined) wrong(`enum: ${problem}`, 'enum', place);
  });
  if (param.default === undefined) return findings;
  if (param.required) wrong('required: a parameter with a default is never missing; remove one of the two', 'required');
  const problem = paramProblem(param, param.default);
  if (problem !== undefined) wrong(`default: ${problem}`, 'default');
  return findings;
}
