/** Warns of variables that commands read but nothing sets, and of parameters that nothing reads. */

import { Suggestions } from '../../core/suggest.ts';
import type { StepDefinition, WorkflowDefinition } from './definition.ts';
import type { StepPaths } from './lint.ts';
import { ITEM_VARIABLES, MAX_NAME_LENGTH, paramVariable, parentPrefix, plainVariable } from './names.ts';
import type { SourceFinding } from './source.ts';

const VARIABLE = /\bWORKRON_(?:PARENT_\w+|INDEX\b|(?:FILE_)?(?:PARAM_\w+|ITEM\b))/g;

const MAX_PREFIX_LENGTH = parentPrefix('').length + MAX_NAME_LENGTH;

export function lintCommands(definition: WorkflowDefinition, pathOf: StepPaths): SourceFinding[] {
  const names = definition.params.filter(({ type }) => type !== 'list').map(({ name }) => paramVariable(name));
  const known = { params: new Set(names), suggestions: new Suggestions(names), steps: byPrefix(definition.steps) };
  const read = new Set<string>();
  const findings = definition.steps.flatMap((step, place): SourceFinding[] => {
    const variables = new Set(step.job.command?.match(VARIABLE)?.map(plainVariable));
    if (variables.size === 0 && !step.job.command?.includes('${{')) return [];
    const parents = new Set(step.dependsOn.map(parentPrefix));
    for (const variable of variables) read.add(variable);
    const messages = [...variables].flatMap((variable) => problemOf(variable, { step, parents, ...known }) ?? []);
    if (step.job.command?.includes('${{')) {
      messages.push('"${{ … }}" is not replaced; parameters are variables of the environment: $WORKRON_PARAM_<NAME>');
    }
    return messages.map((message) => warning(message, [...pathOf(place), 'command'], 'value'));
  });
  return [...findings, ...unusedParams(definition, read)];
}

interface Place {
  step: StepDefinition;
  /** The prefixes of its parents. */
  parents: ReadonlySet<string>;
  /** The variables of all parameters. */
  params: ReadonlySet<string>;
  suggestions: Suggestions;
  /** The steps of the workflow by prefix. */
  steps: ReadonlyMap<string, StepDefinition>;
}

function problemOf(variable: string, { step, parents, params, suggestions, steps }: Place): string | undefined {
  if ((ITEM_VARIABLES as readonly string[]).includes(variable)) {
    return step.forEach === null ? `${variable} is set only where the step has for_each` : undefined;
  }
  if (variable.startsWith('WORKRON_PARAM_')) {
    if (params.has(variable)) return undefined;
    const near = suggestions.nearest(variable);
    return `no parameter sets ${variable}${near === undefined ? '' : ` (did you mean ${near}?)`}`;
  }
  const prefixes = prefixesOf(variable);
  if (prefixes.some((prefix) => parents.has(prefix))) return undefined;
  const other = prefixes.map((prefix) => steps.get(prefix)).find((found) => found !== undefined);
  const hint = other === undefined || other === step ? '' : `; add "${other.key}" to depends_on`;
  return `no parent of "${step.key}" sets ${variable}${hint}`;
}

function byPrefix(steps: readonly StepDefinition[]): Map<string, StepDefinition> {
  return new Map(steps.map((step) => [parentPrefix(step.key), step]));
}

/** The beginnings of a variable that may be the prefix of a parent: up to an underscore, and no longer than that of the longest key. */
function prefixesOf(variable: string): string[] {
  const beginning = variable.slice(0, MAX_PREFIX_LENGTH);
  return [...beginning.matchAll(/_/g)].map(({ index }) => beginning.slice(0, index + 1));
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
