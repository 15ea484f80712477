/**
 * Limits and rates: how much of one key may run at a time, and how much may start in a while, over all workers together. A
 * *meter* is one of both with the rule of one job. All stores, and the explanation of what a job waits for, decide here.
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
  most: number;
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

/** A meter that lets a job not start. */
export interface FullMeter {
  meter: Meter;
  /** What counts against `most`: running jobs, or starts in the window. */
  inUse: number;
  most: number;
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
    ...limits.map(({ key, max }) => ({ name: limitName(key), most: max, windowMs: null })),
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
  return { left: meter.most - recent.length, opensAt: null };
}

/**
 * A burst is what was not used before: that number more may start at once, and the window is longer by as much. In a window of
 * `perMs` at most `limit + burst` start, as the longer window allows no more.
 */
function meterOfRate({ key, limit, perMs, burst }: Rate): Meter & { windowMs: number } {
  const most = limit + burst;
  return { name: rateName(key), most, windowMs: Math.ceil((perMs * most) / limit) };
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
export function ruleOf({ most, windowMs }: Meter): string {
  return windowMs === null ? `${most}` : `${most}/${windowMs}`;
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

function fullLimit(meter: Meter, { max, running }: MeterUse): FullMeter | undefined {
  const most = max ?? meter.most;
  return running < most ? undefined : { meter, inUse: running, most, opensAt: null };
}

function fullRate(
  meter: Meter,
  windowMs: number,
  { use: { opensAt: openAt, starts }, now }: { use: MeterUse; now: number },
): FullMeter | undefined {
  const { most } = meter;
  const recent = starts.filter((at) => at > now - windowMs);
  const inUse = recent.length;
  const last = recent[inUse - most];
  const opensAt = Math.max(openAt ?? 0, last === undefined ? 0 : last + windowMs);
  return opensAt > now ? { meter, inUse, most, opensAt } : undefined;
}

/**
 * When a job may start that has `ahead` others before it at a rate, if each starts as soon as the rate allows; `null` for a
 * limit.
 */
export function nextStart(meter: Meter, use: MeterUse, { now, ahead }: { now: number; ahead: number }): number | null {
  const { most, windowMs } = meter;
  if (windowMs === null) return null;
  const starts = use.starts.slice(-most);
  let at = Math.max(now, use.opensAt ?? 0);
  for (let before = 0; before <= ahead; before += 1) {
    const last = starts[starts.length - most];
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
 * A claim that has met about this number of jobs that may not start goes no further, so it stays fast when many of one key wait.
 * The next claims go on. Until then, less urgent jobs may start before those that lie behind.
 */
export const MAX_PARKED = 500;

export const UNUSED: MeterUse = { max: null, opensAt: null, running: 0, starts: [] };
