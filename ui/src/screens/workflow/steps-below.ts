import type { StepState } from '../../../../src/api/workflow/workflow.ts';

/** Keys of the steps that come after this one, directly or not. Parents stand before children in the list. */
export function stepsBelow(steps: readonly StepState[], from: string): string[] {
  const below = new Set([from]);
  for (const step of steps) {
    if (step.depends_on.some((parent) => below.has(parent))) below.add(step.key);
  }
  below.delete(from);
  return [...below];
}
