/** The graph of a workflow for Mermaid and Graphviz. Edges without a label mean success. */

import type { StepDefinition, WorkflowDefinition } from '../../api/workflow/definition.ts';
import { notesOf } from './workflow.ts';

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
