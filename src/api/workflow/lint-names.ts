/** Finds names that would share one environment variable. */

import type { WorkflowDefinition } from './definition.ts';
import type { StepPaths } from './lint.ts';
import { paramVariable, parentPrefix, RESERVED_PREFIX } from './names.ts';
import type { Finding } from './source.ts';

export function lintNames({ params, steps }: WorkflowDefinition, pathOf: StepPaths): Finding[] {
  const findings: Finding[] = [];
  const clash = (message: string, path: Finding['path'], at: Finding['at']): void => {
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
