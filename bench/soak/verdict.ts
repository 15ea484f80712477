/** Says whether the figures of a soak are flat: the last third against the third before it. */

import { median } from '../measure.ts';
import type { Sample } from './sample.ts';

export interface Verdict {
  what: string;
  before: number;
  last: number;
  unit: 'MB' | 'jobs/s' | 'ms' | 'jobs';
  isFlat: boolean;
}

/** Growth up to this share is noise. */
const MAX_GROWTH = 1.15;
/** Latency is noisier than sizes. */
const MAX_LATENCY_GROWTH = 1.5;
/** Smaller differences are noise, whatever their share. */
const MIN_BYTES = 16 * 1024 * 1024;
const MIN_MS = 20;
const MIN_SHARE_OF_RATE = 0.97;

const MB = 1024 * 1024;

/** The first third, in which caches fill and nothing is old enough to be deleted, is not judged. */
export function verdicts(samples: readonly Sample[], rate: number): Verdict[] {
  const third = Math.floor(samples.length / 3);
  const before = samples.slice(third, 2 * third);
  const last = samples.slice(2 * third);
  const both = (of: (sample: Sample) => number) => ({ before: median(before.map(of)), last: median(last.map(of)) });
  const sized = (what: string, of: (sample: Sample) => number): Verdict => {
    const bytes = both(of);
    const isFlat = bytes.last <= bytes.before * MAX_GROWTH || bytes.last - bytes.before < MIN_BYTES;
    return { what, before: bytes.before / MB, last: bytes.last / MB, unit: 'MB', isFlat };
  };
  const p99 = both(({ p99 }) => p99);
  const rates = { before: rateOf(before), last: rateOf(last) };
  const unfinished = both((sample) => sample.unfinished);
  const kept = both((sample) => sample.kept);
  const names = (of: (sample: Sample) => Map<string, unknown>) => [...of(samples.at(-1) as Sample).keys()].sort();
  return [
    { what: 'ended', ...rates, unit: 'jobs/s', isFlat: rates.last >= rate * MIN_SHARE_OF_RATE },
    {
      what: 'unfinished',
      ...unfinished,
      unit: 'jobs',
      isFlat: unfinished.last <= unfinished.before * MAX_LATENCY_GROWTH || unfinished.last < rate,
    },
    {
      what: 'ended and not yet deleted',
      ...kept,
      unit: 'jobs',
      isFlat: kept.last <= kept.before * MAX_GROWTH,
    },
    {
      what: 'submission to end, p99',
      ...p99,
      unit: 'ms',
      isFlat: p99.last <= p99.before * MAX_LATENCY_GROWTH || p99.last - p99.before < MIN_MS,
    },
    ...names(({ memory }) => memory).map((name) => sized(`memory of ${name}`, ({ memory }) => memory.get(name) ?? 0)),
    ...names(({ relations }) => relations)
      .map((name) => sized(name, ({ relations }) => relations.get(name)?.bytes ?? 0))
      .filter((verdict) => Math.max(verdict.before, verdict.last) >= 1),
  ];
}

function rateOf(samples: readonly Sample[]): number {
  const [first, last] = [samples[0], samples.at(-1)];
  return first === undefined || last === undefined || first === last
    ? Number.NaN
    : (last.ended - first.ended) / (last.at - first.at);
}
