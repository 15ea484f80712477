/** Where a workflow's time went: the chain of steps, each freed by the one before, that leads to its end. */

export interface TimedStep {
  /** Places of its parents in the list of steps. */
  parents: readonly number[];
  /** `null`: it never started. */
  startedAt: number | null;
  /** `null`: it has not ended. */
  endedAt: number | null;
}

/**
 * Places of the steps on the critical path, first to last. It ends with the step that ended last or, where something
 * still runs, with the one that started last of those; before it stands its parent that ended last, and so on. Every
 * two neighbours are parent and child, so a skipped step may lie between. Empty where nothing has started.
 */
export function criticalPath(steps: readonly TimedStep[]): number[] {
  let last: number | undefined;
  steps.forEach((step, place) => {
    if (step.startedAt !== null && (last === undefined || isLater(steps, place, last))) last = place;
  });
  const path: number[] = [];
  while (last !== undefined) {
    path.push(last);
    last = lastToEnd(steps, (steps[last] as TimedStep).parents);
  }
  return path.reverse();
}

function lastToEnd(steps: readonly TimedStep[], places: readonly number[]): number | undefined {
  let last: number | undefined;
  for (const place of places) {
    if (last === undefined || isLater(steps, place, last)) last = place;
  }
  return last;
}

/** Whether `a` ended after `b`; of two that have not ended, or ended together, whether it started after. */
function isLater(steps: readonly TimedStep[], a: number, b: number): boolean {
  const [one, other] = [steps[a] as TimedStep, steps[b] as TimedStep];
  const [oneEnd, otherEnd] = [one.endedAt ?? Number.POSITIVE_INFINITY, other.endedAt ?? Number.POSITIVE_INFINITY];
  if (oneEnd !== otherEnd) return oneEnd > otherEnd;
  return (one.startedAt ?? Number.NEGATIVE_INFINITY) > (other.startedAt ?? Number.NEGATIVE_INFINITY);
}
