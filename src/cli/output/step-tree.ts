/** The steps of a workflow as a tree: each below one of its parents, with its state. */

import { reasonText } from '../../api/words/reason.ts';
import type { StepState, WorkflowDetail } from '../../api/workflow/workflow.ts';
import { isTerminal } from '../../core/job.ts';
import { progressText } from './job.ts';
import { bold, oneLine, stateFormat, stateText, styled } from './style.ts';
import { displayWidth, truncate } from './table.ts';
import { between } from './when.ts';

/** Steps that were skipped because of others are only counted from this number on. */
const MANY_SKIPPED = 4;

interface TreeSize {
  /** `undefined`: nothing is cut. */
  width: number | undefined;
  /** The maximum number of lines. A tree that does not fit is replaced by a list of the most important steps. */
  rows: number | undefined;
  /** Draw skipped steps, too, however many they are. */
  all?: boolean;
  /** Show the job of each step. */
  ids?: boolean;
}

/** Deeper trees leave no room for text. */
const DEEPEST = 16;

export function stepTree(workflow: WorkflowDetail, size: TreeSize): string {
  const { width, rows, all = false } = size;
  const dropped = all ? new Set<string>() : droppedOf(workflow.steps);
  const steps = workflow.steps.filter(({ key }) => !dropped.has(key));
  const title = titleLine(workflow, width);
  const tree = treeOf(steps);
  const fits = rows === undefined || steps.length < rows - 1;
  const lines =
    fits && tree.every(({ prefix }) => prefix.length <= 3 * DEEPEST)
      ? tree.map(({ step, prefix }) => stepLine(step, prefix, size))
      : mattering(steps, rows === undefined ? steps.length : Math.max(1, rows - 3), size);
  const rest = dropped.size === 0 ? [] : [`   … ${dropped.size} skipped (${reasonText('upstream_failed')})`];
  return `${[title, ...lines, ...rest].join('\n')}\n`;
}

/** The steps that were skipped because another one failed, if they are many; not those above a step that is shown. */
function droppedOf(steps: readonly StepState[]): ReadonlySet<string> {
  const dropped = new Set(steps.filter(({ reason }) => reason === 'upstream_failed').map(({ key }) => key));
  for (const { key, depends_on } of steps.toReversed()) {
    if (!dropped.has(key)) for (const parent of depends_on) dropped.delete(parent);
  }
  return dropped.size < MANY_SKIPPED ? new Set() : dropped;
}

function titleLine(workflow: WorkflowDetail, width: number | undefined): string {
  const time = workflow.started_at === null ? '' : `  ${between(startOf(workflow), workflow.ended_at)}`;
  const state = stateText(workflow.status);
  const rest = `  workflow ${workflow.id}  `;
  const name = oneLine(workflow.name);
  const room = width === undefined ? undefined : width - displayWidth(rest + state + time);
  const shown = room === undefined ? name : truncate(name, Math.max(1, room));
  return bold(shown) + rest + styled(stateFormat(workflow.status), state) + time;
}

/** A step may be known to run before its workflow is. */
function startOf({ started_at, steps }: WorkflowDetail): string | null {
  const starts = [started_at, ...steps.map((step) => step.started_at)].filter((at) => at !== null);
  return starts.toSorted()[0] ?? null;
}

interface TreeLine {
  step: StepState;
  prefix: string;
}

/** Puts each step below its deepest parent. Not recursive, as chains may be long. */
function treeOf(steps: readonly StepState[]): TreeLine[] {
  const depths = new Map<string, number>();
  const children = new Map<string | null, StepState[]>();
  for (const step of steps) {
    let under: string | null = null;
    for (const parent of step.depends_on) {
      if (under === null || (depths.get(parent) ?? 0) >= (depths.get(under) ?? 0)) under = parent;
    }
    depths.set(step.key, under === null ? 0 : (depths.get(under) ?? 0) + 1);
    const siblings = children.get(under);
    if (siblings === undefined) children.set(under, [step]);
    else siblings.push(step);
  }
  const found: TreeLine[] = [];
  const waiting = branch(children.get(null) ?? [], '').reverse();
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    found.push({ step: next.step, prefix: next.prefix });
    for (const child of branch(children.get(next.step.key) ?? [], next.below).reverse()) waiting.push(child);
  }
  return found;
}

function branch(steps: readonly StepState[], above: string): (TreeLine & { below: string })[] {
  return steps.map((step, index) => {
    const last = index === steps.length - 1;
    return { step, prefix: `${above}${last ? '└─ ' : '├─ '}`, below: above + (last ? '   ' : '│  ') };
  });
}

/** Running, failed and next steps, and a line about the others. */
function mattering(steps: readonly StepState[], most: number, size: TreeSize): string[] {
  const order = ['running', 'failed', 'cancelled', 'pending', 'scheduled', 'blocked', 'done', 'skipped'];
  const sorted = steps.toSorted((a, b) => order.indexOf(a.status) - order.indexOf(b.status));
  const lines = sorted.slice(0, most).map((step) => stepLine(step, '', size));
  return steps.length > most ? [...lines, `… and ${steps.length - most} more steps`] : lines;
}

function stepLine(step: StepState, prefix: string, { width, ids = false }: TreeSize): string {
  const state = stateText(step.status);
  const before = `${prefix}${step.key}  `;
  const after = [ids ? `#${step.job_id}` : '', details(step)].map((text) => (text === '' ? '' : `  ${text}`)).join('');
  const text = before + state + after;
  const cut = width === undefined ? text : truncate(text, width);
  // Coloured only if it was not cut.
  return cut.startsWith(before + state)
    ? before + styled(stateFormat(step.status), state) + cut.slice(before.length + state.length)
    : cut;
}

/** Time, items and error. */
export function details(step: StepState): string {
  const parts: string[] = [];
  if (step.started_at !== null && step.status !== 'skipped') parts.push(between(step.started_at, step.done_at));
  if (step.group !== null) parts.push(groupText(step.group));
  // A server of an earlier version does not send it.
  if (step.status === 'running' && step.progress) parts.push(progressText(step.progress));
  if (step.status === 'running' && step.attempts > 1) parts.push(`attempt ${step.attempts}`);
  if (isTerminal(step.status) && step.reason !== null)
    parts.push(step.failure === null ? `(${reasonText(step.reason)})` : oneLine(step.failure.line));
  if (step.status === 'failed' && step.continue_on_failure) parts.push('counts as success');
  if (step.status === 'done' && step.rerun_of !== null && step.attempts === 0)
    parts.push(`kept from job ${step.rerun_of}`);
  return parts.join('  ');
}

function groupText({ total, fine, failed, cancelled }: NonNullable<StepState['group']>): string {
  const ended = fine + failed + cancelled;
  const wrong = [failed > 0 ? `${failed} failed` : '', cancelled > 0 ? `${cancelled} cancelled` : ''].filter(Boolean);
  return `${ended}/${total ?? '?'} ${total === 1 ? 'item' : 'items'}${wrong.length === 0 ? '' : `, ${wrong.join(', ')}`}`;
}
