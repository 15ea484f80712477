/** Colours and icons for terminals. Pipes get none unless FORCE_COLOR is set; NO_COLOR turns them off on a terminal. */

import { styleText } from 'node:util';
import type { Status } from '../../core/job.ts';

type Format = Parameters<typeof styleText>[0];

const STATES: Readonly<Record<Status, { icon: string; format: Format }>> = {
  blocked: { icon: '◌', format: 'dim' },
  scheduled: { icon: '◷', format: 'cyan' },
  pending: { icon: '○', format: 'yellow' },
  running: { icon: '●', format: 'blue' },
  done: { icon: '✓', format: 'green' },
  failed: { icon: '✗', format: 'red' },
  cancelled: { icon: '⊘', format: 'magenta' },
  skipped: { icon: '↷', format: 'dim' },
};

export function styled(format: Format, text: string, stream: NodeJS.WritableStream = process.stdout): string {
  return styleText(format, text, { stream });
}

export const bold = (text: string): string => styled('bold', text);
export const dim = (text: string): string => styled('dim', text);

/** Icon (on a terminal) and word. */
export function stateText(status: string): string {
  const state = STATES[status as Status];
  return state === undefined || !process.stdout.isTTY ? status : `${state.icon} ${status}`;
}

export function stateFormat(status: string): Format {
  return STATES[status as Status]?.format ?? 'reset';
}

/** Text from jobs on one line, without control characters and direction overrides. */
export function oneLine(text: string): string {
  // oxlint-disable-next-line no-control-regex
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]+/g, ' ').trim();
}

/** Like `oneLine`, but keeps line breaks. */
export function harmless(text: string): string {
  // oxlint-disable-next-line no-control-regex
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]+/g, ' ').trimEnd();
}

/** A heading, and a line for each fact that there is. */
export function factsText(heading: string, facts: readonly (readonly [label: string, value: string | null])[]): string {
  const width = Math.max(...facts.map(([label]) => label.length)) + 2;
  const lines = facts.flatMap(([label, value]) =>
    value === null || value === '' ? [] : [`${dim(label.padEnd(width))}${value}`],
  );
  return `${[bold(heading), ...lines].join('\n')}\n`;
}
