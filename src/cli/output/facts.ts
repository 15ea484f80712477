import { bold, dim } from './style.ts';

/** A heading, and a line for each fact that there is. */
export function factsText(heading: string, facts: readonly (readonly [label: string, value: string | null])[]): string {
  const width = Math.max(...facts.map(([label]) => label.length)) + 2;
  const lines = facts.flatMap(([label, value]) =>
    value === null || value === '' ? [] : [`${dim(label.padEnd(width))}${value}`],
  );
  return `${[bold(heading), ...lines].join('\n')}\n`;
}
