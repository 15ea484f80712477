/** Steps and parameters of a workflow as text. */

import type { StepDefinition, WorkflowDefinition } from '../../api/workflow/definition.ts';
import type { Definition, DefinitionDetail } from '../../api/workflow/stored.ts';
import { formatDuration } from '../../core/duration.ts';
import { terminalWidth } from '../client-command.ts';
import { jsonText } from './json-text.ts';
import { bold, dim, oneLine, stateFormat, stateText, styled } from './style.ts';
import { type Column, renderTable } from './table.ts';
import { span, when } from './when.ts';

/** Notes on a step: `if failure`, `for each of 3`, `may fail`. */
function notesOf(step: StepDefinition): string[] {
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
  return params.map((param) => `${dim('param')} ${param.name}: ${paramText(param)}\n`).join('');
}

export function workflowMermaid({ steps }: WorkflowDefinition): string {
  const ids = idsOf(steps);
  const lines = ['flowchart TD'];
  for (const step of steps) {
    const label = [step.key, ...notesOf(step)].map(mermaidText).join('<br>');
    const [open, close] = step.forEach === null ? ['[', ']'] : ['[[', ']]'];
    lines.push(`  ${ids.get(step.key)}${open}"${label}"${close}`);
  }
  for (const step of steps) {
    const arrow = step.if === 'success' ? '-->' : `-. ${step.if} .->`;
    for (const parent of step.dependsOn) lines.push(`  ${ids.get(parent)} ${arrow} ${ids.get(step.key)}`);
  }
  return `${lines.join('\n')}\n`;
}

export function workflowDot({ name, steps }: WorkflowDefinition): string {
  const lines = [`digraph ${dotText(name)} {`, '  node [shape=box];'];
  for (const step of steps) {
    const style = step.forEach === null ? '' : ', peripheries=2';
    lines.push(`  ${dotText(step.key)} [label=${dotText([step.key, ...notesOf(step)].join('\n'))}${style}];`);
  }
  for (const step of steps) {
    const style = step.if === 'success' ? '' : ` [style=dashed, label=${dotText(step.if)}]`;
    for (const parent of step.dependsOn) lines.push(`  ${dotText(parent)} -> ${dotText(step.key)}${style};`);
  }
  return `${lines.join('\n')}\n}\n`;
}

/** Steps are numbered, as keys such as `end` are reserved words of Mermaid. */
function idsOf(steps: readonly StepDefinition[]): Map<string, string> {
  return new Map(steps.map(({ key }, place) => [key, `s${place + 1}`]));
}

/** Mermaid writes numeric entities with # instead of &#. */
function mermaidText(text: string): string {
  return text.replace(/[^\w .,:-]/gu, (character) => `#${character.codePointAt(0)};`);
}

function dotText(text: string): string {
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`;
}

export const DEFINITION_COLUMNS: readonly Column<Definition>[] = [
  { title: 'WORKFLOW', text: ({ name }) => name, flexible: true, identifies: true },
  { title: 'VERSION', text: ({ version }) => String(version), align: 'right' },
  { title: 'STEPS', text: ({ steps }) => String(steps.length), align: 'right' },
  { title: 'PARAMETERS', text: ({ params }) => params.map(paramName).join(', '), flexible: true },
  { title: 'APPLIED', text: ({ created_at }) => when(created_at) },
  { title: 'DESCRIPTION', text: ({ description }) => oneLine(description ?? ''), flexible: true },
];

type Run = DefinitionDetail['recent']['runs'][number];

const RUN_COLUMNS: readonly Column<Run>[] = [
  { title: 'ID', text: ({ id }) => id, align: 'right', identifies: true },
  { title: 'STATUS', text: ({ status }) => stateText(status), format: ({ status }) => stateFormat(status) },
  { title: 'VERSION', text: ({ version }) => String(version), align: 'right' },
  { title: 'TIME', text: ({ duration }) => (duration === null ? '–' : span(duration)), align: 'right' },
  { title: 'CREATED', text: ({ created_at }) => when(created_at) },
];
const SHOWN_RUNS = 10;

export function describeDefinition(definition: DefinitionDetail): string {
  const { recent } = definition;
  const lines = [`${bold(definition.name)}  version ${definition.version}`];
  const line = (label: string, value: string | null): void => {
    if (value !== null && value !== '') lines.push(`${dim(label.padEnd(12))}${value}`);
  };
  line('about', definition.description === null ? null : oneLine(definition.description));
  line('steps', definition.steps.map(({ key }) => key).join(', '));
  for (const param of definition.params) line('parameter', `${param.name}: ${paramText(param)}`);
  line('applied', when(definition.created_at));
  line('schedules', definition.schedules.join(', '));
  const rate = recent.success_rate;
  const took = recent.median === null ? '' : `, ${span(recent.median)} at the median`;
  line(
    'runs',
    rate === null ? null : styled(rateFormat(rate), `${Math.round(rate * 100)}% of the latest are done${took}`),
  );
  const runs = recent.runs.slice(0, SHOWN_RUNS);
  return `${lines.join('\n')}\n${runs.length === 0 ? '' : `\n${renderTable(RUN_COLUMNS, runs, terminalWidth())}`}`;
}

function rateFormat(rate: number): Parameters<typeof styled>[0] {
  if (rate === 1) return 'reset';
  return rate < 0.5 ? 'red' : 'yellow';
}

/** A required parameter is marked. */
function paramName({ name, required }: Definition['params'][number]): string {
  return required ? `${name}*` : name;
}

interface ShownParam {
  type: string;
  enum: readonly unknown[] | null;
  required: boolean;
  default?: unknown;
  description: string | null;
}

function paramText(param: ShownParam): string {
  const parts: string[] = [param.type];
  if (param.enum !== null) parts.push(`one of ${param.enum.map(String).join(', ')}`);
  if (param.default != null) parts.push(`default ${jsonText(param.default)}`);
  else parts.push(param.required ? 'required' : 'optional');
  if (param.description !== null) parts.push(oneLine(param.description));
  return parts.join('; ');
}
