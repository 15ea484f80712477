/** Steps and parameters of a workflow as text. */

import type { StepDefinition, WorkflowDefinition } from '../../api/workflow/definition.ts';
import type { Param } from '../../api/workflow/params.ts';
import { formatDuration } from '../../core/duration.ts';
import type { GraphBox } from './graph/draw-graph.ts';
import { jsonText } from './json-text.ts';
import { dim, oneLine } from './style.ts';
import { renderTable, truncate } from './table.ts';

const MAX_NOTE_WIDTH = 36;

/** The key of a step, and its notes below. */
export function boxOf(step: StepDefinition): GraphBox {
  return {
    key: step.key,
    dependsOn: step.dependsOn,
    lines: [step.key, ...notesOf(step).map((note) => truncate(note, MAX_NOTE_WIDTH))],
  };
}

/** Notes on a step: `if failure`, `for each of 3`, `may fail`. */
export function notesOf(step: StepDefinition): string[] {
  const notes: string[] = [];
  if (step.if !== 'success') notes.push(`if ${step.if}`);
  if (step.forEach !== null) notes.push(forEachText(step));
  if (step.continueOnFailure) notes.push('may fail');
  return notes;
}

function forEachText({ forEach, maxParallel }: StepDefinition): string {
  const parallel = maxParallel === null ? '' : `, ${maxParallel} at once`;
  if (forEach === null) return '';
  if (Array.isArray(forEach)) return `for each of ${forEach.length}${parallel}`;
  return `for each of ${forEach.param === undefined ? forEach.output : `param ${forEach.param}`}${parallel}`;
}

/** A table for graphs that are too large to draw. */
export function stepTable({ steps }: WorkflowDefinition, width: number | undefined): string {
  return renderTable<StepDefinition>(
    [
      { title: 'STEP', text: (step) => step.key },
      { title: 'AFTER', text: (step) => step.dependsOn.join(', '), flexible: true },
      { title: 'NOTES', text: (step) => notesOf(step).join(', '), flexible: true },
      { title: 'TIMEOUT', text: (step) => (step.job.timeout === undefined ? '' : formatDuration(step.job.timeout)) },
      { title: 'RUNS', text: (step) => oneLine(step.job.command ?? `handler ${step.job.handler}`), flexible: true },
    ],
    steps,
    width,
  );
}

/** One line for each parameter. */
export function paramLines({ params }: WorkflowDefinition): string {
  return params.map((param) => `${dim('param')} ${param.name}: ${describeParam(param)}\n`).join('');
}

function describeParam(param: Param): string {
  const parts: string[] = [param.type];
  if (param.enum !== null) parts.push(`one of ${param.enum.map(String).join(', ')}`);
  if (param.default !== undefined) parts.push(`default ${jsonText(param.default)}`);
  else parts.push(param.required ? 'required' : 'optional');
  if (param.description !== null) parts.push(oneLine(param.description));
  return parts.join('; ');
}
