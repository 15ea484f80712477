/** A workflow on stdout until it has ended: a tree that lives in a terminal, a line for each change in a pipe. */

import { setTimeout as sleep } from 'node:timers/promises';
import { routes } from '../api/routes.ts';
import type { StepState, WorkflowDetail } from '../api/workflow/workflow.ts';
import type { Connection } from './connection.ts';
import { isEnded } from './ended.ts';
import { Persistence } from './persist.ts';
import { details, stepTree } from './step-tree.ts';

const FASTEST_MS = 300;
/** So much longer than an answer took is waited before the next: a large workflow is not read all the time. */
const RELUCTANCE = 5;

export interface FollowOptions {
  signal: AbortSignal;
  /** Only wait. */
  silent: boolean;
}

/** The workflow once it has ended; goes on after the server was away. */
export async function followWorkflow(
  connection: Connection,
  id: string,
  { signal, silent }: FollowOptions,
): Promise<WorkflowDetail> {
  const persistence = new Persistence();
  const screen = silent ? undefined : process.stdout.isTTY ? new LiveTree() : new ChangeLines();
  for (;;) {
    const askedAt = performance.now();
    const workflow = await persistence.call(() => connection.json(routes.readWorkflow, { params: { id } }), signal);
    signal.throwIfAborted();
    screen?.show(workflow);
    if (hasEnded(workflow)) return workflow;
    const tookMs = performance.now() - askedAt;
    await sleep(Math.max(FASTEST_MS, tookMs * RELUCTANCE), undefined, { signal });
  }
}

export function hasEnded({ status }: Pick<WorkflowDetail, 'status'>): boolean {
  return status !== 'pending' && status !== 'running';
}

/** Draws over what it drew before. */
class LiveTree {
  #lines = 0;

  show(workflow: WorkflowDetail): void {
    const { columns, rows } = process.stdout;
    const text = stepTree(workflow, { width: columns, rows: hasEnded(workflow) ? undefined : rows });
    const back = this.#lines === 0 ? '' : `\u001b[${this.#lines}A\r\u001b[0J`;
    process.stdout.write(back + text);
    this.#lines = text.split('\n').length - 1;
  }
}

class ChangeLines {
  readonly #shown = new Map<string, string>();

  show({ steps }: WorkflowDetail): void {
    for (const step of steps) {
      if (step.status !== 'running' && !isEnded(step)) {
        this.#shown.delete(step.key);
        continue;
      }
      const state = `${step.status} ${step.attempts}`;
      if (this.#shown.get(step.key) === state) continue;
      this.#shown.set(step.key, state);
      process.stdout.write(`${lineOf(step)}\n`);
    }
  }
}

function lineOf(step: StepState): string {
  const rest = isEnded(step) ? details(step) : '';
  return `${step.key}: ${step.status}${rest === '' ? '' : `  ${rest}`}`;
}
