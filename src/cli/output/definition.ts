/** Stored workflow definitions as text. */

import type { Definition, DefinitionDetail } from '../../api/workflow/stored.ts';
import { terminalWidth } from '../client-command.ts';
import { jsonText } from './json-text.ts';
import { bold, dim, oneLine, stateFormat, stateText, styled } from './style.ts';
import { type Column, renderTable } from './table.ts';
import { span, when } from './when.ts';

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

function paramText(param: Definition['params'][number]): string {
  const parts: string[] = [param.type];
  if (param.enum !== null) parts.push(`one of ${param.enum.map(String).join(', ')}`);
  if (param.required) parts.push('required');
  else if (param.default !== null) parts.push(`default ${jsonText(param.default)}`);
  if (param.description !== null) parts.push(oneLine(param.description));
  return parts.join('; ');
}
