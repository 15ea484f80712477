/** Shows a workflow until it has ended: a live tree on a terminal, one line per change in a pipe. */

import { setTimeout as sleep } from 'node:timers/promises';
import { routes } from '../../api/routes.ts';
import type { StepState, WorkflowDetail } from '../../api/workflow/workflow.ts';
import { isTerminal } from '../../core/job.ts';
import { NEVER } from '../../core/never.ts';
import { type Output, print, printData } from '../client-command.ts';
import type { Connection } from '../connection.ts';
import { EXIT } from '../errors/cli-error.ts';
import { details, stepTree } from '../output/step-tree.ts';
import { between } from '../output/when.ts';
import { detachOnInterrupt } from './detach.ts';
import { Persistence } from './wait.ts';

const MIN_PAUSE_MS = 300;
/** The pause between two reads, in multiples of the time the last read took: large workflows are read less often. */
const PAUSE_FACTOR = 5;

interface FollowOptions {
  signal: AbortSignal;
  /** Waits without output. */
  silent: boolean;
}

/** Returns the workflow once it has ended. Continues when the server was unreachable for a while. */
async function followWorkflow(
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
    await sleep(Math.max(MIN_PAUSE_MS, tookMs * PAUSE_FACTOR), undefined, { signal });
  }
}

export function hasEnded({ status }: Pick<WorkflowDetail, 'status'>): boolean {
  return status !== 'pending' && status !== 'running';
}

/** Draws the tree over the previous one. */
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
      if (step.status !== 'running' && !isTerminal(step.status)) {
        this.#shown.delete(step.key);
        continue;
      }
      const state = `${step.status} ${step.attempts} ${tenthsOf(step)}`;
      if (this.#shown.get(step.key) === state) continue;
      this.#shown.set(step.key, state);
      process.stdout.write(`${lineOf(step)}\n`);
    }
  }
}

/** A change of progress is a line of its own at every tenth part. */
function tenthsOf({ status, progress }: StepState): number {
  return status === 'running' && progress ? Math.floor(progress.fraction * 10) : 0;
}

function lineOf(step: StepState): string {
  const rest = isTerminal(step.status) || step.progress ? details(step) : '';
  return `${step.key}: ${step.status}${rest === '' ? '' : `  ${rest}`}`;
}

export async function followToEnd(connection: Connection, id: string, output: Output): Promise<void> {
  const silent = output.json !== false || output.quiet;
  using interrupt = detachOnInterrupt({
    title: `workflow ${id}`,
    again: `workron workflow get -f ${id}`,
    async cancel() {
      await connection.json(routes.cancelWorkflow, { params: { id } });
      await followWorkflow(connection, id, { signal: NEVER, silent: true });
    },
  });
  const followed = followWorkflow(connection, id, { signal: interrupt.signal, silent });
  const ended = await Promise.race([followed, interrupt.left]);
  if (typeof ended === 'number') {
    followed.catch(() => undefined);
    process.exitCode = ended;
    return;
  }
  if (output.json) printData(ended, output.json);
  else if (!output.quiet && !process.stdout.isTTY) print(endLine(ended));
  process.exitCode = interrupt.cancelled ? EXIT.interrupted : ended.status === 'done' ? EXIT.ok : EXIT.failed;
}

function endLine({ id, status, started_at, created_at, ended_at }: WorkflowDetail): string {
  return `workflow ${id} ${status}, after ${between(started_at ?? created_at, ended_at)}`;
}
