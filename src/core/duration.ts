/** Durations as users write them: `"90s"`, `"1h30m"`, `"7d"`, `"250ms"`, or a whole number of milliseconds. */

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
  ['ms', 1],
] as const;
const UNIT_MS: Readonly<Record<string, number>> = Object.fromEntries(UNITS);

/** About 285,000 years. Larger sums would not be exact. */
const MAX_MS = Number.MAX_SAFE_INTEGER;

/**
 * Returns milliseconds, or `undefined` if it is not a duration. Fractions are allowed (`"1.5h"`), and each unit once.
 */
export function parseDuration(value: string | number): number | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value >= 0 ? value : undefined;
  if (/^\d+$/.test(value)) return parseDuration(Number(value));
  if (!/^(\d+(\.\d+)?(ms|[dhms]))+$/.test(value)) return undefined;
  let total = 0;
  const seen = new Set<string>();
  for (const [, amount, unit] of value.matchAll(/(\d+(?:\.\d+)?)(ms|[dhms])/g)) {
    if (seen.has(unit as string)) return undefined;
    seen.add(unit as string);
    total += Number(amount) * (UNIT_MS[unit as string] as number);
  }
  const ms = Math.round(total);
  return ms <= MAX_MS ? ms : undefined;
}

/** The shortest exact notation: `90_000` is `1m30s`. */
export function formatDuration(ms: number): string {
  if (ms <= 0) return '0s';
  let rest = Math.round(ms);
  let text = '';
  for (const [unit, size] of UNITS) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0) text += `${count}${unit}`;
  }
  return text;
}
