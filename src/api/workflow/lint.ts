/** Checks of a workflow file beyond its schema: name clashes, broken graphs, unused values. */

import { nearestWord, Suggestions } from '../../core/suggest.ts';
import type { StepDefinition, WorkflowDefinition } from './definition.ts';
import { lintCommands } from './lint-commands.ts';
import { lintGraph } from './lint-graph.ts';
import { paramVariable, parentPrefix, RESERVED_PREFIX } from './names.ts';
import { type Param, paramProblem } from './params.ts';
import type { SourceFinding, SourcePath } from './source.ts';
import { splitOutput } from './step.ts';

/** Returns the place of a step in the file. */
export type StepPaths = (step: number) => SourcePath;

/** Returns errors and warnings about a file that fits the schema. */
export function lintWorkflow(definition: WorkflowDefinition, pathOf: StepPaths): SourceFinding[] {
  return [
    ...lintParams(definition),
    ...lintNames(definition, pathOf),
    ...lintGraph(definition, pathOf),
    ...lintForEach(definition, pathOf),
    ...lintCommands(definition, pathOf),
  ];
}

/** Finds declarations of parameters that contradict themselves. */
function lintParams({ params }: WorkflowDefinition): SourceFinding[] {
  return params.flatMap(lintParam);
}

function lintParam(param: Param): SourceFinding[] {
  const findings: SourceFinding[] = [];
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

/** Finds names that would share one environment variable. */
function lintNames({ params, steps }: WorkflowDefinition, pathOf: StepPaths): SourceFinding[] {
  const findings: SourceFinding[] = [];
  const clash = (message: string, path: SourceFinding['path'], at: SourceFinding['at']): void => {
    findings.push({ severity: 'error', message, path, at });
  };
  const paramNames = new Map<string, string>();
  for (const { name } of params) {
    const other = firstOf(paramNames, paramVariable(name), name);
    if (other !== name)
      clash(`parameters "${other}" and "${name}" are both ${paramVariable(name)}; rename one`, ['params', name], 'key');
  }
  const stepKeys = new Map<string, string>();
  steps.forEach(({ key, job }, place) => {
    const other = firstOf(stepKeys, parentPrefix(key), key);
    if (other !== key) {
      clash(
        `steps "${other}" and "${key}" both give their results to children as ${parentPrefix(key)}…; rename one`,
        [...pathOf(place), 'key'],
        'value',
      );
    }
    for (const name of Object.keys(job.env ?? {})) {
      if (name.startsWith(RESERVED_PREFIX))
        clash(
          `env: names that begin with ${RESERVED_PREFIX} are Workron's own`,
          [...pathOf(place), 'env', name],
          'key',
        );
    }
  });
  return findings;
}

/** Returns the first name with this variable. */
function firstOf(names: Map<string, string>, variable: string, name: string): string {
  const first = names.get(variable) ?? name;
  names.set(variable, first);
  return first;
}

/** Finds for_each lists that do not exist. */
function lintForEach(definition: WorkflowDefinition, pathOf: StepPaths): SourceFinding[] {
  const stepKeys = new Set(definition.steps.map(({ key }) => key));
  const params = new Map(definition.params.map((param) => [param.name, param]));
  const suggestions = new Suggestions([...params.keys()]);
  return definition.steps.flatMap((step, place): SourceFinding[] => {
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
        : listParamProblem(forEach.param, params, suggestions);
    return message === undefined
      ? []
      : [{ severity: 'error', message: `for_each: ${message}`, path: [...path, source], at: 'value' }];
  });
}

function listParamProblem(
  name: string,
  params: ReadonlyMap<string, Param>,
  suggestions: Suggestions,
): string | undefined {
  const param = params.get(name);
  if (param === undefined) return `there is no parameter "${name}"${suggestions.hint(name)}`;
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
