/** Round values for the axes of charts. */

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const TIME_STEPS = [1, 5, 10, 15, 30]
  .map((n) => n * MINUTE)
  .concat(
    [1, 2, 3, 6, 12].map((n) => n * HOUR),
    DAY,
    2 * DAY,
  );
/** In milliseconds. */
const DURATION_STEPS = [
  1,
  2,
  5,
  10,
  20,
  50,
  100,
  200,
  500,
  1_000,
  2_000,
  5_000,
  10_000,
  15_000,
  30_000,
  MINUTE,
  2 * MINUTE,
  5 * MINUTE,
  10 * MINUTE,
  15 * MINUTE,
  30 * MINUTE,
  HOUR,
  2 * HOUR,
  6 * HOUR,
  12 * HOUR,
  DAY,
  2 * DAY,
  7 * DAY,
];

/** Instants on round local times, at most `most` of them. */
export function timeTicks(from: number, to: number, most: number): number[] {
  const step = TIME_STEPS.find((each) => (to - from) / each <= most) ?? 7 * DAY;
  // Days are counted from local midnight.
  const offset = new Date(from).getTimezoneOffset() * MINUTE;
  const ticks: number[] = [];
  for (let at = Math.ceil((from - offset) / step) * step + offset; at <= to; at += step) ticks.push(at);
  return ticks;
}

/** Values from 0 to above `max`, with about `most` round steps. */
export function valueTicks(max: number, kind: 'count' | 'duration', most = 4): number[] {
  const step = kind === 'duration' ? durationStep(max, most) : countStep(max);
  const ticks: number[] = [];
  for (let value = 0; value < max + step; value += step) ticks.push(value);
  return ticks;
}

function durationStep(max: number, most: number): number {
  return DURATION_STEPS.find((step) => max / step <= most) ?? Math.ceil(max / most / DAY) * DAY;
}

function countStep(max: number): number {
  if (max <= 4) return 1;
  const power = 10 ** Math.floor(Math.log10(max / 4));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => max / step <= 4) ?? power * 10;
}
