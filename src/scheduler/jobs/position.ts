/** Positions are counted up to this number. */
export const MAX_COUNTED = 10_000;

/** If this many jobs run, no end of them is looked for. */
export const MAX_RUNNING = 1_000;

/** The position of a job that has this number of others before it, in words. */
export function positionOf(ahead: number): string {
  if (ahead >= MAX_COUNTED) return `${MAX_COUNTED} or more jobs before it`;
  return `${ordinal(ahead + 1)} in line`;
}

/** `null`: it is not known. */
export function startOf(startsAt: number | null): string {
  return startsAt === null ? '' : `, expected to start by ${new Date(startsAt).toISOString()}`;
}

function ordinal(place: number): string {
  const isTeen = place % 100 >= 11 && place % 100 <= 13;
  const ending = isTeen ? 'th' : (['th', 'st', 'nd', 'rd'][place % 10] ?? 'th');
  return `${place}${ending}`;
}
