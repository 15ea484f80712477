/** Checks limits and rates from what the jobs themselves show. */

import type { Attempt } from '../../src/core/attempt-end.ts';
import type { Job } from '../../src/core/job.ts';
import type { Rate } from '../../src/core/meter.ts';
import type { Healed } from '../../src/store/duty-store.ts';

type Fail = (rule: string, message: string) => void;

interface Seen {
  job: Job;
  records: readonly Attempt[];
}

/** After a claim of these jobs: no more jobs of their keys run than their limits allow. */
export function checkLimits(claimed: readonly Job[], all: Iterable<Seen>, fail: Fail): void {
  const running = [...all].map(({ job }) => job).filter(({ status }) => status === 'running');
  for (const { limits, id } of claimed) {
    for (const { key, max } of limits) {
      const count = running.filter((job) => job.limits.some((limit) => limit.key === key)).length;
      if (count > max)
        fail('exact limits', `job ${id} was claimed while ${count - 1} of ${max} jobs of key ${key} ran`);
    }
  }
}

/** The end of a job opens its limits. So the duty that looks again finds none that jobs wait for in vain: it would hide a lost end. */
export function checkHealed({ meters }: Healed, fail: Fail): void {
  if (meters.length > 0) fail('ends open limits', `${meters.join(', ')} had room and was closed`);
}

/** At the end: in no window did more attempts start than the rate allows. */
export function checkRates(all: Iterable<Seen>, fail: Fail): void {
  const starts = new Map<string, { rate: Rate; at: number[] }>();
  for (const { job, records } of all) {
    for (const rate of job.rates) {
      const key = starts.get(rate.key) ?? { rate, at: [] };
      starts.set(rate.key, key);
      key.at.push(...records.filter(({ outcome }) => outcome !== 'returned').map(({ startedAt }) => startedAt));
    }
  }
  for (const [name, { rate, at }] of starts) {
    const most = rate.limit + rate.burst;
    at.sort((a, b) => a - b);
    const first = at.findIndex((start, place) => (at[place + most] ?? Infinity) < start + rate.perMs);
    if (first === -1) continue;
    const span = at.slice(first, first + most + 1).join(', ');
    fail('exact rates', `more than ${most} attempts of key ${name} started within ${rate.perMs} ms: ${span}`);
  }
}
