/** Finds unknown dependencies, cycles, and steps that can never run. */

import { cycleText, type GraphProblem, orderGraph } from '../../core/dag/order.ts';
import { Suggestions } from '../../core/suggest.ts';
import type { StepDefinition, WorkflowDefinition } from './definition.ts';
import type { StepPaths } from './lint.ts';
import type { SourceFinding } from './source.ts';

export function lintGraph({ steps }: WorkflowDefinition, pathOf: StepPaths): SourceFinding[] {
  const { order, problems } = orderGraph(steps);
  if (problems.length > 0) {
    const suggestions = new Suggestions(steps.map(({ key }) => key));
    return problems.map((problem) => describe(problem, { steps, pathOf, suggestions }));
  }
  return [...lintConditions(steps, pathOf), ...lintDeadSteps(steps, order, pathOf)];
}

interface Naming {
  steps: readonly StepDefinition[];
  pathOf: StepPaths;
  /** Of keys of steps. */
  suggestions: Suggestions;
}

function describe(problem: GraphProblem, { steps, pathOf, suggestions }: Naming): SourceFinding {
  const step = (place: number): StepDefinition => steps[place] as StepDefinition;
  const error = (message: string, path: SourceFinding['path']): SourceFinding => ({
    severity: 'error',
    message,
    path,
    at: 'value',
  });
  switch (problem.kind) {
    case 'duplicate':
      return error(`duplicate step key "${step(problem.node).key}": it is step ${problem.first + 1} already`, [
        ...pathOf(problem.node),
        'key',
      ]);
    case 'cycle': {
      const [first = 0] = problem.path;
      return error(`dependency cycle: ${cycleText(problem.path.map((place) => step(place).key))}`, [
        ...pathOf(first),
        'depends_on',
      ]);
    }
    default: {
      const name = step(problem.node).dependsOn[problem.edge] as string;
      return error(describeEdge(problem.kind, name, suggestions), [
        ...pathOf(problem.node),
        'depends_on',
        problem.edge,
      ]);
    }
  }
}

function describeEdge(kind: 'unknown' | 'self' | 'repeated', name: string, suggestions: Suggestions): string {
  if (kind === 'self') return `depends_on: step "${name}" depends on itself`;
  if (kind === 'repeated') return `depends_on: "${name}" is named twice`;
  return `depends_on: there is no step "${name}"${suggestions.hint(name)}`;
}

/** Warns of conditions that do not mean what they seem to. */
function lintConditions(steps: readonly StepDefinition[], pathOf: StepPaths): SourceFinding[] {
  const byKey = new Map(steps.map((step) => [step.key, step]));
  const unheard = unheardParents(byKey);
  return steps.flatMap((step, place): SourceFinding[] => {
    if (step.if !== 'failure') return [];
    if (step.dependsOn.length === 0) {
      return [
        {
          severity: 'error',
          message: 'if: failure needs depends_on: the steps whose failure is meant',
          path: [...pathOf(place), 'if'],
          at: 'value',
        },
      ];
    }
    const message = unheardFailure(step, byKey, unheard);
    return message === undefined ? [] : [{ severity: 'warning', message, path: [...pathOf(place), 'if'], at: 'value' }];
  });
}

/** If the parent of a parent fails, the parent is skipped, which is not a failure. Steps with several parents are not reported. */
function unheardFailure(
  step: StepDefinition,
  byKey: ReadonlyMap<string, StepDefinition>,
  unheardBy: (parent: StepDefinition) => string | undefined,
): string | undefined {
  const parent = step.dependsOn.length === 1 ? byKey.get(step.dependsOn[0] as string) : undefined;
  if (parent === undefined || parent.if !== 'success') return undefined;
  const unheard = unheardBy(parent);
  if (unheard === undefined) return undefined;
  return `"${step.key}" does not run when "${unheard}" fails, as "${parent.key}" is then skipped, not failed; if it should, add "${unheard}" to depends_on`;
}

/** Finds the first parent whose failure skips a step. Each step is looked at once, however many children it has. */
function unheardParents(byKey: ReadonlyMap<string, StepDefinition>): (step: StepDefinition) => string | undefined {
  const known = new Map<StepDefinition, string | undefined>();
  return (step) => {
    if (!known.has(step)) {
      known.set(
        step,
        step.dependsOn.find((key) => byKey.get(key)?.continueOnFailure === false),
      );
    }
    return known.get(step);
  };
}

/** Finds steps whose conditions can never be met. */
function lintDeadSteps(steps: readonly StepDefinition[], order: readonly number[], pathOf: StepPaths): SourceFinding[] {
  const byKey = new Map(steps.map((step) => [step.key, step]));
  const dead = new Set<string>();
  const findings: SourceFinding[] = [];
  for (const place of order) {
    const step = steps[place] as StepDefinition;
    const reason = whyDead(
      step,
      step.dependsOn.map((key) => byKey.get(key) as StepDefinition),
      dead,
    );
    if (reason === undefined) continue;
    dead.add(step.key);
    findings.push({
      severity: 'error',
      message: `step "${step.key}" can never run: ${reason}`,
      path: pathOf(place),
      at: 'key',
    });
  }
  return findings;
}

function whyDead(
  step: StepDefinition,
  parents: readonly StepDefinition[],
  dead: ReadonlySet<string>,
): string | undefined {
  if (
    step.if === 'failure' &&
    parents.length > 0 &&
    parents.every((parent) => parent.continueOnFailure || dead.has(parent.key))
  ) {
    return 'it waits for a failure, and no failure of its parents counts (continue_on_failure)';
  }
  if (step.if !== 'success') return undefined;
  const never = parents.find((parent) => dead.has(parent.key));
  if (never !== undefined) return `it needs the success of "${never.key}", which can never run`;
  const wanted = new Set(step.dependsOn);
  const rescue = parents.find((parent) => parent.if === 'failure' && parent.dependsOn.every((key) => wanted.has(key)));
  if (rescue === undefined) return undefined;
  return `it needs the success of "${rescue.key}", which runs only when another of its parents failed; use if: ended`;
}
