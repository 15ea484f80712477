/** Workflows between the wire and the scheduler. */

import { invalid } from '../api/decode.ts';
import { toIdOrNull, toInstant, toInstantOrNull } from '../api/fields.ts';
import { newJobFrom } from '../api/job-wire.ts';
import { notifyToWire } from '../api/notify.ts';
import type { StepState, Workflow as WireWorkflow } from '../api/workflow.ts';
import { parentPrefix } from '../api/workflow-names.ts';
import { splitOutput, type WorkflowStep as WireStep } from '../api/workflow-step.ts';
import { cycleText, type GraphProblem, orderGraph } from '../core/dag/order.ts';
import { WorkronError } from '../core/error.ts';
import type { NewStep, NewWorkflow, Workflow, WorkflowStep } from '../scheduler/scheduler.ts';

/** More are not told: somebody who got a thousand steps wrong is helped by the first ones. */
const MOST_ERRORS = 20;

/** The steps with parents first, as a store takes them. Throws for cycles, unknown parents and whatever else does not close. */
export function newStepsFrom(steps: readonly WireStep[]): NewWorkflow['steps'] {
  const nodes = steps.map((step) => ({ key: step.key, dependsOn: dependsOn(step) }));
  const { order, problems } = orderGraph(nodes);
  if (problems.length > 0) throw graphError(steps, problems);
  const wrong = steps.flatMap((step, place) => problemsOf(step, place)).slice(0, MOST_ERRORS);
  if (wrong.length > 0) throw invalid(wrong);
  const places = new Map(order.map((place, index) => [(steps[place] as WireStep).key, index]));
  const placeOf = (key: string): number => places.get(key) as number;
  return order.map((place) => newStepFrom(steps[place] as WireStep, placeOf));
}

function newStepFrom(step: WireStep, placeOf: (key: string) => number): NewStep {
  const { key, depends_on: _, if: condition, for_each, max_parallel, continue_on_failure, ...job } = step;
  return {
    key,
    job: { ...newJobFrom(job), continueOnFailure: continue_on_failure ?? false },
    parents: dependsOn(step).map(placeOf),
    condition: condition ?? 'success',
    forEach: for_each === undefined ? null : { items: itemsOf(for_each, placeOf), maxParallel: max_parallel ?? null },
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

/** What neither a schema nor a graph can see. */
function problemsOf(step: WireStep, place: number): { pointer: string; detail: string }[] {
  const problems: { pointer: string; detail: string }[] = [];
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
    const other = prefixes.get(parentPrefix(parent));
    if (other !== undefined) {
      wrong(
        'depends_on',
        `the results of "${other}" and "${parent}" would both be ${parentPrefix(parent)}…; rename one`,
      );
    }
    prefixes.set(parentPrefix(parent), parent);
  }
  return problems;
}

/** Unknown parents first: where one is missing, a cycle is no news. */
function graphError(steps: readonly WireStep[], problems: readonly GraphProblem[]): WorkronError {
  const keyOf = (place: number): string => (steps[place] as WireStep).key;
  const unknown = problems.flatMap((problem) =>
    problem.kind === 'unknown'
      ? [
          {
            pointer: `/steps/${problem.node}/depends_on`,
            detail: `there is no step "${dependsOn(steps[problem.node] as WireStep)[problem.edge]}"`,
          },
        ]
      : [],
  );
  if (unknown.length > 0) {
    return new WorkronError('dependency_unknown', summary(unknown), { errors: unknown.slice(0, MOST_ERRORS) });
  }
  const cycles = problems.flatMap((problem) => {
    const path =
      problem.kind === 'cycle' ? problem.path : problem.kind === 'self' ? [problem.node, problem.node] : undefined;
    if (path === undefined) return [];
    return [{ pointer: `/steps/${path[0]}/depends_on`, detail: `dependency cycle: ${cycleText(path.map(keyOf))}` }];
  });
  if (cycles.length > 0) {
    return new WorkronError('dependency_cycle', summary(cycles), { errors: cycles.slice(0, MOST_ERRORS) });
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
  return invalid(rest.slice(0, MOST_ERRORS));
}

function summary(errors: readonly { pointer: string; detail: string }[]): string {
  const [first] = errors;
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : '';
  return `${first?.pointer}: ${first?.detail}${more}`;
}

export function workflowToWire(workflow: Workflow): WireWorkflow {
  return {
    id: String(workflow.id),
    name: workflow.name,
    params: { ...workflow.params },
    status: workflow.status,
    created_at: toInstant(workflow.createdAt),
    started_at: toInstantOrNull(workflow.startedAt),
    ended_at: toInstantOrNull(workflow.endedAt),
    rerun_of: toIdOrNull(workflow.rerunOf),
    notify: notifyToWire(workflow.notify),
    step_counts: { total: workflow.total, ...workflow.counts },
  };
}

/** `keyOf` is the key of the step that a job belongs to. */
export function stepToWire({ key, job, condition, group }: WorkflowStep, keyOf: (jobId: number) => string): StepState {
  return {
    key,
    job_id: String(job.id),
    name: job.name,
    status: job.status,
    depends_on: job.dependsOn.map(({ jobId }) => keyOf(jobId)),
    if: condition,
    continue_on_failure: job.continueOnFailure,
    attempts: job.attempt,
    failures: job.failures,
    max_attempts: job.maxAttempts,
    created_at: toInstant(job.createdAt),
    run_at: toInstant(job.dueAt),
    started_at: toInstantOrNull(job.startedAt),
    done_at: toInstantOrNull(job.doneAt),
    worker_id: toIdOrNull(job.workerId),
    exit_code: job.exitCode,
    signal: job.signal,
    error: job.error,
    reason: job.reason,
    rerun_of: toIdOrNull(job.rerunOf),
    group:
      group === null
        ? null
        : { total: group.total, inserted: group.inserted, max_parallel: group.maxParallel, ...group.counts },
  };
}
