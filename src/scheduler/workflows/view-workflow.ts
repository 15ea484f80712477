/** A workflow with its steps, read in pages, and its critical path. */

import { criticalPath, type TimedStep } from '../../core/dag/critical-path.ts';
import type { Workflow, WorkflowStep } from '../../core/dag/workflow.ts';
import type { SchedulerContext } from '../context.ts';
import { readWorkflow, stepPages } from './workflows.ts';

export interface WorkflowView extends Workflow {
  /** The steps, parents before their children. Can be iterated once. */
  pages: AsyncIterable<WorkflowStep[]>;
  /** The key of the step that a job belongs to, among the steps iterated so far. */
  keyOf: (jobId: number) => string;
  /** The keys of its steps, once `pages` was iterated to its end. */
  criticalPath: () => string[];
}

export async function viewWorkflow(context: SchedulerContext, id: number, signal: AbortSignal): Promise<WorkflowView> {
  const workflow = await readWorkflow(context, id, signal);
  const pages = stepPages(context, id, signal);
  // Read ahead of the answer, so that an error is thrown before any of it is sent.
  const first = await pages.next();
  const walked = new WalkedSteps();
  return {
    ...workflow,
    pages: walked.along(first.done ? [] : first.value, pages),
    keyOf: (jobId) => walked.keyOf(jobId),
    criticalPath: () => walked.criticalPath(),
  };
}

/** Passes steps on and remembers only the fields that keys and the critical path need. */
class WalkedSteps {
  readonly #places = new Map<number, number>();
  readonly #keys: string[] = [];
  readonly #timed: TimedStep[] = [];

  async *along(first: WorkflowStep[], rest: AsyncIterable<WorkflowStep[]>): AsyncGenerator<WorkflowStep[]> {
    this.#remember(first);
    yield first;
    for await (const steps of rest) {
      this.#remember(steps);
      yield steps;
    }
  }

  keyOf(jobId: number): string {
    const place = this.#places.get(jobId);
    return place === undefined ? String(jobId) : (this.#keys[place] as string);
  }

  criticalPath(): string[] {
    return criticalPath(this.#timed).map((place) => this.#keys[place] as string);
  }

  #remember(steps: readonly WorkflowStep[]): void {
    for (const { key, job } of steps) {
      const parents = job.dependsOn.flatMap(({ jobId }) => this.#places.get(jobId) ?? []);
      this.#places.set(job.id, this.#keys.length);
      this.#keys.push(key);
      this.#timed.push({ parents, startedAt: job.startedAt, endedAt: job.doneAt });
    }
  }
}
