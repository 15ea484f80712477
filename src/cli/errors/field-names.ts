/** Names the fields of a request as the user gave them: by flag. */

import type { Command } from 'commander';

/** Flags that are not spelled like the field. */
const FLAGS: Readonly<Record<string, string>> = {
  run_at: 'at',
  no_retry_on: 'dont-retry-on',
  tags: 'tag',
  depends_on: 'after',
  params: 'param',
  from: 'since',
  to: 'until',
  unique_key: 'unique',
  submitted_by: 'by',
  worker_id: 'worker',
  workflow_id: 'workflow',
};

/**
 * The place of a wrong field: `--priority` for `/priority`, `--env A B` for `/env/A B`, `the name` for an argument; the
 * pointer where neither set it.
 */
export function fieldName(pointer: string, command: Command): string {
  if (command.opts<{ file?: string }>().file !== undefined) return pointer;
  const path = pointer.split('/').slice(1);
  const [first = '', ...rest] =
    path[0] === 'job' || path[0] === 'filter' || path[0] === 'workflow' ? path.slice(1) : path;
  if (first === 'command') return 'the command';
  if (first === 'query') return 'filter';
  const known = command.options.map(({ long }) => long);
  const whole = `--${[first, ...rest].join('-')}`;
  if (known.includes(whole)) return whole;
  const flag = [FLAGS[first], first.replaceAll('_', '-')].find((name) => known.includes(`--${name}`));
  const isArgument = command.registeredArguments.some((argument) => `/${argument.name()}` === pointer);
  if (flag === undefined) return isArgument ? `the ${first}` : pointer;
  const inner = rest.filter((part) => !/^(\d+|key)$/.test(part)).join(' ');
  return inner === '' ? `--${flag}` : `--${flag} ${inner}`;
}

/** One line for each wrong field; `undefined` if the error is about none. */
export function fieldLines(errors: unknown, nameOf: (pointer: string) => string): string | undefined {
  if (!Array.isArray(errors) || errors.length === 0) return undefined;
  const lines = (errors as { pointer: string; detail: string }[]).map(({ pointer, detail }) =>
    pointer === '' ? detail : `${nameOf(pointer)}: ${detail}`,
  );
  return lines.join('\n       ');
}
