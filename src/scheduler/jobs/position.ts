/** Positions are counted up to this number. */
export const MAX_COUNTED = 10_000;

/** If this many jobs run, no end of them is looked for. */
export const MAX_RUNNING = 1_000;

/** An expected instant as messages have it. */
export function instantOrNull(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString();
}
