/** Durations for people: two units at most. */

const UNITS: readonly [string, number][] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
];

/** `41s`, `2m 5s`, `3h 12m`, `1.2s`, `85ms`. Never negative. */
export function durationText(ms: number): string {
  const span = Math.max(0, ms);
  if (span < 1_000) return `${Math.round(span)}ms`;
  if (span < 10_000 && span % 1_000 !== 0) return `${(Math.floor(span / 100) / 10).toFixed(1)}s`;
  for (const [index, [unit, size]] of UNITS.entries()) {
    if (span < size) continue;
    const whole = Math.floor(span / size);
    const next = UNITS[index + 1];
    const rest = next === undefined ? 0 : Math.floor((span % size) / next[1]);
    return rest === 0 || next === undefined ? `${whole}${unit}` : `${whole}${unit} ${rest}${next[0]}`;
  }
  return '0s';
}

/** The exact duration, as the API reads it: `1h30m`, or `90061500ms` if it is not a whole number of seconds. */
export function exactDuration(ms: number): string {
  if (ms === 0 || ms % 1_000 !== 0) return `${ms}ms`;
  let rest = ms;
  let text = '';
  for (const [unit, size] of UNITS) {
    const whole = Math.floor(rest / size);
    if (whole > 0) text += `${whole}${unit}`;
    rest -= whole * size;
  }
  return text;
}

/** One unit, for tables: `41s`, `2m`, `3h`, `12d`. */
export function shortSpan(ms: number): string {
  const span = Math.max(0, ms);
  const [unit, size] = UNITS.find(([, each]) => span >= each) ?? (['s', 1_000] as const);
  return `${Math.floor(span / size)}${unit}`;
}

/** `2m ago`, `in 3h`, `now`. */
export function relativeText(at: number, now: number): string {
  const distance = now - at;
  if (Math.abs(distance) < 1_000) return 'now';
  return distance > 0 ? `${shortSpan(distance)} ago` : `in ${shortSpan(-distance + 500)}`;
}
