import type { StepState } from '../../../../src/api/workflow/workflow.ts';

/** The keys of all steps after this one, direct or indirect. The list has parents before children. */
export function stepsBelow(steps: readonly StepState[], from: string): string[] {
  const below = new Set([from]);
  for (const step of steps) {
    if (step.depends_on.some((parent) => below.has(parent))) below.add(step.key);
  }
  below.delete(from);
  return [...below];
}
