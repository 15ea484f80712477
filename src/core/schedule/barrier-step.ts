/**
 * A barrier step between two runs of a schedule, so that a run with many first steps that waits for a run with many
 * jobs needs the sum of both in edges, not the product.
 */

import type { ListedWorkflow, NewStep } from '../dag/new-workflow.ts';
import { DEFAULT_SPEC } from '../job.ts';

/** Up to this number of edges, each first step has its own. */
const MAX_EDGES = 1_000;
const KEY = 'previous-run';

/**
 * Returns the workflow to be stored if its first steps wait for `count` jobs. If that takes many edges, a step without
 * work, `previous-run`, waits for the jobs, and the first steps wait for it.
 */
export function withBarrierStep(workflow: ListedWorkflow, count: number): ListedWorkflow {
  const { steps } = workflow;
  const first = steps.filter(({ parents }) => parents.length === 0);
  if (first.length < 2 || count * first.length <= MAX_EDGES) return workflow;
  return { ...workflow, steps: [gate(steps, first[0] as NewStep), ...steps.map(behindGate)] };
}

function gate(steps: readonly NewStep[], { job: { queue, tick } }: NewStep): NewStep {
  const keys = new Set(steps.map(({ key }) => key));
  let key = KEY;
  while (keys.has(key)) key += '-';
  const job = {
    ...DEFAULT_SPEC,
    command: 'true',
    queue,
    tick,
    runAt: null,
    delayMs: null,
    unique: null,
    dependsOn: [],
  };
  // A group without items is done as soon as it is unblocked, without a worker.
  return { key, job, parents: [], condition: 'ended', forEach: { items: [], maxParallel: null }, keepFrom: null };
}

function behindGate(step: NewStep): NewStep {
  const { parents, forEach } = step;
  const items = forEach !== null && 'parent' in forEach.items ? movedBack(forEach.items) : forEach?.items;
  const moved = {
    ...step,
    parents: parents.length === 0 ? [0] : parents.map((place) => place + 1),
    forEach: forEach === null ? null : { ...forEach, items: items ?? [] },
  };
  return parents.length === 0 ? { ...moved, condition: 'ended' } : moved;
}

function movedBack({ parent, path }: { parent: number; path: readonly string[] }) {
  return { parent: parent + 1, path };
}
