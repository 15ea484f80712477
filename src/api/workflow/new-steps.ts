/** Maps the steps of a workflow from the wire to the domain, and checks their graph. */

import type { NewStep, NewSteps } from '../../core/dag/new-workflow.ts';
import { cycleText, Graph, type GraphProblem } from '../../core/dag/order.ts';
import { WorkronError } from '../../core/error.ts';
import { invalid, MAX_ERRORS } from '../decode.ts';
import { memberOf } from '../gang.ts';
import { newJobFrom } from '../job-wire.ts';
import { parentPrefix } from './names.ts';
import { PackedJson } from './packed-json.ts';
import { splitOutput, type WorkflowStep as WireStep } from './step.ts';

interface FieldProblem {
  pointer: string;
  detail: string;
}

/** Returns the steps with parents first. Throws for cycles, unknown parents and other mistakes in the graph. */
export function newStepsFrom(steps: readonly WireStep[]): NewStep[] {
  const collector = new StepCollector();
  for (const step of steps) collector.add(step);
  return [...collector.finish()];
}

/** The fields of a step except its place in the graph. */
type StepContent = Omit<WireStep, 'key' | 'depends_on'>;

/** Takes steps one by one. It keeps the content of each as text, and its place in the graph as numbers. */
export class StepCollector {
  readonly #graph = new Graph();
  readonly #contents = new PackedJson<StepContent>();
  readonly #problems: FieldProblem[] = [];

  add(step: WireStep): void {
    const { key, depends_on: _, ...content } = step;
    if (this.#problems.length < MAX_ERRORS)
      this.#problems.push(...problemsOf(step, this.#contents.length).slice(0, MAX_ERRORS));
    this.#graph.add(key, dependsOn(step));
    this.#contents.add(content);
  }

  /** Returns the steps in the order that a store needs. Throws for cycles, unknown parents and other mistakes in the graph. */
  finish(): NewSteps {
    const { order, problems } = this.#graph.order();
    if (problems.length > 0) throw graphError(this.#graph, problems);
    if (this.#problems.length > 0) throw invalid(this.#problems.slice(0, MAX_ERRORS));
    const places = new Int32Array(order.length);
    order.forEach((node, place) => {
      places[node] = place;
    });
    return { length: order.length, [Symbol.iterator]: () => this.#inOrder(order, places) };
  }

  *#inOrder(order: Int32Array, places: Int32Array): Generator<NewStep> {
    const graph = this.#graph;
    const placeOf = (key: string): number => places[graph.nodeOf(key) as number] as number;
    for (const node of order) {
      const parents = graph.parentsOf(node).map((parent) => places[parent] as number);
      yield newStepFrom(this.#contents.at(node), { key: graph.keyOf(node), parents, placeOf });
    }
  }
}

interface StepPlace {
  key: string;
  parents: readonly number[];
  /** Returns the place of the step with a key. */
  placeOf: (key: string) => number;
}

function newStepFrom(content: StepContent, { key, parents, placeOf }: StepPlace): NewStep {
  const { if: condition, for_each, max_parallel, continue_on_failure, gang, ...job } = content;
  const single = newJobFrom(job);
  // The members get their gang from the step's job when they are inserted.
  const newJob = gang === undefined ? single : memberOf(single, gang, { id: '', rank: 0 });
  newJob.continueOnFailure = continue_on_failure ?? false;
  return {
    key,
    job: newJob,
    parents,
    condition: condition ?? 'success',
    forEach:
      gang !== undefined
        ? { items: Array.from({ length: gang.size }, (_, rank) => rank), maxParallel: null }
        : for_each === undefined
          ? null
          : { items: itemsOf(for_each, placeOf), maxParallel: max_parallel ?? null },
    keepFrom: null,
  };
}

function itemsOf(
  forEach: NonNullable<WireStep['for_each']>,
  placeOf: (key: string) => number,
): NonNullable<NewStep['forEach']>['items'] {
  if (Array.isArray(forEach)) return forEach;
  const { step, key } = splitOutput(forEach.output);
  return { parent: placeOf(step), path: key === null ? [] : [key] };
}

function dependsOn({ depends_on = [] }: WireStep): readonly string[] {
  return typeof depends_on === 'string' ? [depends_on] : depends_on;
}

/** Returns mistakes that neither the schema nor the graph can find. */
function problemsOf(step: WireStep, place: number): FieldProblem[] {
  const problems: FieldProblem[] = [];
  const wrong = (field: string, detail: string): void => {
    problems.push({ pointer: `/steps/${place}/${field}`, detail });
  };
  const parents = dependsOn(step);
  if (step.if === 'failure' && parents.length === 0) {
    wrong('if', 'failure needs depends_on: the steps whose failure is meant');
  }
  if (step.for_each !== undefined && !Array.isArray(step.for_each)) {
    const source = splitOutput(step.for_each.output).step;
    if (!parents.includes(source)) wrong('for_each/output', `"${source}" is not in depends_on`);
  }
  const prefixes = new Map<string, string>();
  for (const parent of parents) {
    const prefix = parentPrefix(parent);
    const other = prefixes.get(prefix);
    if (other !== undefined) {
      wrong('depends_on', `the results of "${other}" and "${parent}" would both be ${prefix}…; rename one`);
    }
    prefixes.set(prefix, parent);
  }
  return problems;
}

/** Reports unknown parents first: a cycle may be a consequence of one. */
function graphError(graph: Graph, problems: readonly GraphProblem[]): WorkronError {
  const keyOf = (node: number): string => graph.keyOf(node);
  const unknown = problems.flatMap((problem) =>
    problem.kind === 'unknown'
      ? [
          {
            pointer: `/steps/${problem.node}/depends_on`,
            detail: `there is no step "${graph.nameOf(problem.node, problem.edge)}"`,
          },
        ]
      : [],
  );
  if (unknown.length > 0) {
    return new WorkronError('dependency_unknown', summary(unknown), { errors: unknown.slice(0, MAX_ERRORS) });
  }
  const cycles = problems.flatMap((problem) => {
    const path =
      problem.kind === 'cycle' ? problem.path : problem.kind === 'self' ? [problem.node, problem.node] : undefined;
    if (path === undefined) return [];
    return [{ pointer: `/steps/${path[0]}/depends_on`, detail: `dependency cycle: ${cycleText(path.map(keyOf))}` }];
  });
  if (cycles.length > 0) {
    return new WorkronError('dependency_cycle', summary(cycles), { errors: cycles.slice(0, MAX_ERRORS) });
  }
  const rest = problems.flatMap((problem) => {
    if (problem.kind === 'duplicate') {
      const detail = `duplicate key "${keyOf(problem.node)}": it is step ${problem.first} already`;
      return [{ pointer: `/steps/${problem.node}/key`, detail }];
    }
    return problem.kind === 'repeated'
      ? [{ pointer: `/steps/${problem.node}/depends_on/${problem.edge}`, detail: 'named twice' }]
      : [];
  });
  return invalid(rest.slice(0, MAX_ERRORS));
}

function summary(errors: readonly FieldProblem[]): string {
  const [first] = errors;
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : '';
  return `${first?.pointer}: ${first?.detail}${more}`;
}
