/** A workflow as people look at it. */

import { criticalPath, type TimedStep } from '../../core/dag/critical-path.ts';
import type { WorkflowStep } from '../../core/dag/workflow.ts';
import type { SchedulerContext } from '../context.ts';
import type { WorkflowView } from '../scheduler.ts';
import { stepPages } from './step-pages.ts';
import { readWorkflow } from './workflows.ts';

export async function viewWorkflow(context: SchedulerContext, id: number, signal: AbortSignal): Promise<WorkflowView> {
  const workflow = await readWorkflow(context, id, signal);
  const pages = stepPages(context, id, signal);
  // What stands in the way is told before an answer has begun.
  const first = await pages.next();
  const walked = new WalkedSteps();
  return {
    ...workflow,
    pages: walked.along(first.done ? [] : first.value, pages),
    keyOf: (jobId) => walked.keyOf(jobId),
    criticalPath: () => walked.criticalPath(),
  };
}

/** What is remembered of steps that were passed on. */
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
