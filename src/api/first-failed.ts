/** The one that failed first: the others may have failed because of it. */
export function firstFailed<T extends { status: string; done_at: string | null }>(steps: readonly T[]): T | undefined {
  const failed = steps.filter(({ status }) => status === 'failed');
  return failed.reduce<T | undefined>(
    (first, step) => (first === undefined || (step.done_at ?? '') < (first.done_at ?? '') ? step : first),
    undefined,
  );
}
