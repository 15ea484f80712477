/** Warns of variables that commands read but nothing sets, and of parameters that nothing reads. */

import { nearestWord } from '../../core/suggest.ts';
import type { StepDefinition, WorkflowDefinition } from './definition.ts';
import type { StepPaths } from './lint.ts';
import { ITEM_VARIABLES, paramVariable, parentPrefix, plainVariable } from './names.ts';
import type { SourceFinding } from './source.ts';

const VARIABLE = /\bWORKRON_(?:PARENT_\w+|INDEX\b|(?:FILE_)?(?:PARAM_\w+|ITEM\b))/g;

export function lintCommands(definition: WorkflowDefinition, pathOf: StepPaths): SourceFinding[] {
  const known = definition.params.filter(({ type }) => type !== 'list').map(({ name }) => paramVariable(name));
  const read = new Set<string>();
  const findings = definition.steps.flatMap((step, place): SourceFinding[] => {
    const variables = new Set(step.job.command?.match(VARIABLE)?.map(plainVariable));
    for (const variable of variables) read.add(variable);
    const messages = [...variables].flatMap(
      (variable) => problemOf(variable, { step, known, steps: definition.steps }) ?? [],
    );
    if (step.job.command?.includes('${{')) {
      messages.push('"${{ … }}" is not replaced; parameters are variables of the environment: $WORKRON_PARAM_<NAME>');
    }
    return messages.map((message) => warning(message, [...pathOf(place), 'command'], 'value'));
  });
  return [...findings, ...unusedParams(definition, read)];
}

interface Place {
  step: StepDefinition;
  /** The variables of all parameters. */
  known: readonly string[];
  steps: readonly StepDefinition[];
}

function problemOf(variable: string, { step, known, steps }: Place): string | undefined {
  if ((ITEM_VARIABLES as readonly string[]).includes(variable)) {
    return step.forEach === null ? `${variable} is set only where the step has for_each` : undefined;
  }
  if (variable.startsWith('WORKRON_PARAM_')) {
    if (known.includes(variable)) return undefined;
    const near = nearestWord(variable, known);
    return `no parameter sets ${variable}${near === undefined ? '' : ` (did you mean ${near}?)`}`;
  }
  if (step.dependsOn.some((key) => variable.startsWith(parentPrefix(key)))) return undefined;
  const other = steps.find(({ key }) => variable.startsWith(parentPrefix(key)));
  const hint = other === undefined || other === step ? '' : `; add "${other.key}" to depends_on`;
  return `no parent of "${step.key}" sets ${variable}${hint}`;
}

/** A handler gets all parameters, and may use each of them. */
function unusedParams({ params, steps }: WorkflowDefinition, read: ReadonlySet<string>): SourceFinding[] {
  if (steps.some(({ job }) => job.handler !== undefined)) return [];
  const lists = new Set(
    steps.map(({ forEach }) => (forEach === null || Array.isArray(forEach) ? undefined : forEach.param)),
  );
  return params.flatMap(({ name, type }): SourceFinding[] => {
    if (lists.has(name) || read.has(paramVariable(name))) return [];
    const where = type === 'list' ? 'no for_each names it' : `no command names ${paramVariable(name)}`;
    return [warning(`parameter "${name}" is not used: ${where}`, ['params', name], 'key')];
  });
}

function warning(message: string, path: SourceFinding['path'], at: SourceFinding['at']): SourceFinding {
  return { severity: 'warning', message, path, at };
}
