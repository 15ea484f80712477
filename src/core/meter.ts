/**
 * Limits and rates: how many jobs with a key may run at a time, and how many attempts may start in a period, over all workers
 * together. A *meter* is either of them, as one job states it. All stores, and the explanation of what a job waits for, decide here.
 */

export const ON_LIMIT = ['queue', 'skip'] as const;

/** The number of running jobs with this key: a job starts only if fewer than its own `max` run. */
export interface Limit {
  key: string;
  max: number;
}

/** At most `limit + burst` attempts with this key start in any window of `perMs`, and `limit` in the long run. */
export interface Rate {
  key: string;
  limit: number;
  perMs: number;
  burst: number;
}

export interface Meter {
  /** `limit:` or `rate:` with the key. Meters are locked in the order of their names. */
  name: string;
  /** The most that may run, or start within `windowMs`. */
  max: number;
  /** `null`: running jobs are counted, not starts. */
  windowMs: number | null;
}

/** What is known of a meter at the moment of a claim. */
export interface MeterUse {
  /** A limit that a person has set, which replaces those of all jobs; `null`: none. */
  max: number | null;
  /** A rate that was closed opens then, whatever has started; `null`: it is open. */
  opensAt: number | null;
  running: number;
  /** Starts in the order of time, as far back as any job has asked for. */
  starts: readonly number[];
}

/** A meter that keeps a job from starting. */
export interface FullMeter {
  meter: Meter;
  /** What counts against `max`: running jobs, or starts in the window. */
  inUse: number;
  max: number;
  /** When it will let one start; `null`: as soon as a running job ends. */
  opensAt: number | null;
}

type Metered = { limits: readonly Limit[]; rates: readonly Rate[] };

export function isMetered({ limits, rates }: Metered): boolean {
  return limits.length > 0 || rates.length > 0;
}

/** In the order of their names. */
export function metersOf({ limits, rates }: Metered): Meter[] {
  const meters = [
    ...limits.map(({ key, max }) => ({ name: limitName(key), max, windowMs: null })),
    ...rates.map(meterOfRate),
  ];
  return meters.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** The rate of a queue, which counts for all of its jobs. */
export function queueMeter(queue: string, rate: Omit<Rate, 'key'>): Meter & { windowMs: number } {
  return { ...meterOfRate({ key: queue, ...rate }), name: queueMeterName(queue) };
}

export function queueMeterName(queue: string): string {
  return `queue:${queue}`;
}

/** How many more attempts may start now, and when the next one may if that is none. */
export function roomOf(meter: Meter, use: MeterUse, now: number): { left: number; opensAt: number | null } {
  const full = fullMeter([meter], () => use, now);
  if (full !== undefined) return { left: 0, opensAt: full.opensAt };
  const recent = use.starts.filter((at) => at > now - (meter.windowMs ?? 0));
  return { left: meter.max - recent.length, opensAt: null };
}

/**
 * A burst lets `burst` more attempts start at once. The window grows in proportion, so that `limit` start per `perMs` in the long
 * run. In a window of `perMs` at most `limit + burst` start, because the longer window allows no more.
 */
function meterOfRate({ key, limit, perMs, burst }: Rate): Meter & { windowMs: number } {
  const max = limit + burst;
  return { name: rateName(key), max, windowMs: Math.ceil((perMs * max) / limit) };
}

export function limitName(key: string): string {
  return `limit:${key}`;
}

export function rateName(key: string): string {
  return `rate:${key}`;
}

export function keyOfMeter(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}

/** Two meters with the same name and rule let jobs start at the same moments. */
export function ruleOf({ max, windowMs }: Meter): string {
  return windowMs === null ? `${max}` : `${max}/${windowMs}`;
}

/** The limit that the jobs of a parking wait for, by the parking's meter and rule. */
export function limitOfParking(name: string, rule: string): Meter {
  return { name, max: Number(rule), windowMs: null };
}

/** The first meter that is full; `undefined` if the job may start now. */
export function fullMeter(
  meters: readonly Meter[],
  useOf: (name: string) => MeterUse,
  now: number,
): FullMeter | undefined {
  for (const meter of meters) {
    const use = useOf(meter.name);
    const full = meter.windowMs === null ? fullLimit(meter, use) : fullRate(meter, meter.windowMs, { use, now });
    if (full !== undefined) return full;
  }
  return undefined;
}

function fullLimit(meter: Meter, { max: setByPerson, running }: MeterUse): FullMeter | undefined {
  const max = setByPerson ?? meter.max;
  return running < max ? undefined : { meter, inUse: running, max, opensAt: null };
}

function fullRate(
  meter: Meter,
  windowMs: number,
  { use: { opensAt: openAt, starts }, now }: { use: MeterUse; now: number },
): FullMeter | undefined {
  const { max } = meter;
  const recent = starts.filter((at) => at > now - windowMs);
  const inUse = recent.length;
  const last = recent[inUse - max];
  const opensAt = Math.max(openAt ?? 0, last === undefined ? 0 : last + windowMs);
  return opensAt > now ? { meter, inUse, max, opensAt } : undefined;
}

/**
 * When a job may start that has `ahead` others before it at a rate, if each starts as soon as the rate allows; `null` for a
 * limit.
 */
export function nextStart(meter: Meter, use: MeterUse, { now, ahead }: { now: number; ahead: number }): number | null {
  const { max, windowMs } = meter;
  if (windowMs === null) return null;
  const starts = use.starts.slice(-max);
  let at = Math.max(now, use.opensAt ?? 0);
  for (let before = 0; before <= ahead; before += 1) {
    const last = starts[starts.length - max];
    if (last !== undefined) at = Math.max(at, last + windowMs);
    starts.push(at);
  }
  return at;
}

/** What is in use once a job with this meter has started. */
export function withStart(use: MeterUse, meter: Meter, now: number): MeterUse {
  return meter.windowMs === null ? { ...use, running: use.running + 1 } : { ...use, starts: [...use.starts, now] };
}

/**
 * A claim stops after it has met about this many jobs that may not start, so that it stays fast when many jobs of one key wait.
 * The next claims go on from there. Until then, less urgent jobs may start before jobs that were not read.
 */
export const MAX_PARKED = 500;

/** For how long starts are kept whose rate is not known: the longest time that a rate without a burst can be stated for. */
export const UNKNOWN_WINDOW_MS = 7 * 86_400_000;

export const UNUSED: MeterUse = { max: null, opensAt: null, running: 0, starts: [] };
