/** The critical path of a workflow: the chain of steps, each freed by the one before, that leads to its end. */

export interface TimedStep {
  /** The indexes of its parents in the list of steps. */
  parents: readonly number[];
  /** `null` if it never started. */
  startedAt: number | null;
  /** `null` if it has not ended. */
  endedAt: number | null;
}

/**
 * Returns the indexes of the steps on the critical path, first to last. It ends with the step that ended last or, if some
 * still run, with the one of those that started last; before it comes its parent that ended last, and so on. A parent that
 * ended after its child began did not free it: it was retried later. Each step is a parent of the next, so a skipped step
 * may be among them. Empty if no step has started.
 */
export function criticalPath(steps: readonly TimedStep[]): number[] {
  let last: number | undefined;
  steps.forEach((step, place) => {
    if (step.startedAt !== null && (last === undefined || isLater(steps, place, last))) last = place;
  });
  const path: number[] = [];
  let before = Number.POSITIVE_INFINITY;
  while (last !== undefined) {
    path.push(last);
    const { startedAt, endedAt, parents } = steps[last] as TimedStep;
    before = startedAt ?? endedAt ?? before;
    last = lastToEnd(steps, parents, before);
  }
  return path.reverse();
}

/** The step that ended last of those that ended at `before` or earlier. */
function lastToEnd(steps: readonly TimedStep[], places: readonly number[], before: number): number | undefined {
  let last: number | undefined;
  for (const place of places) {
    if (((steps[place] as TimedStep).endedAt ?? Number.POSITIVE_INFINITY) > before) continue;
    if (last === undefined || isLater(steps, place, last)) last = place;
  }
  return last;
}

/** True if `a` ended after `b` or, if both have not ended or ended together, started after it. */
function isLater(steps: readonly TimedStep[], a: number, b: number): boolean {
  const [one, other] = [steps[a] as TimedStep, steps[b] as TimedStep];
  const [oneEnd, otherEnd] = [one.endedAt ?? Number.POSITIVE_INFINITY, other.endedAt ?? Number.POSITIVE_INFINITY];
  if (oneEnd !== otherEnd) return oneEnd > otherEnd;
  return (one.startedAt ?? Number.NEGATIVE_INFINITY) > (other.startedAt ?? Number.NEGATIVE_INFINITY);
}
