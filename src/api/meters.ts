/** The limits and rates of a job on the wire. */

import { z } from 'zod';
import { DEFAULT_SPEC, type JobSpec } from '../core/job.ts';
import { duration, label, wholeNumber } from './fields.ts';
import { strict } from './schemas.ts';

const MAX_KEYS = 16;
const MAX_KEY_BYTES = 256;
/** Every start within the window is a row. */
const MAX_STARTS = 100_000;

/** The key of a limit or rate, such as `customer:42`. */
export const meterKey = label(MAX_KEY_BYTES)
  .refine((key) => new TextEncoder().encode(key).length <= MAX_KEY_BYTES, `must have at most ${MAX_KEY_BYTES} bytes`)
  .meta({ examples: ['customer:42'] });

export const limitMax = wholeNumber(1, 1_000_000);

function eachKeyOnce(list: readonly { key: string }[]): boolean {
  return new Set(list.map(({ key }) => key)).size === list.length;
}

const ONCE = 'each key may be named once';

export const limitList = z
  .array(strict({ key: meterKey, max: limitMax }))
  .max(MAX_KEYS, `at most ${MAX_KEYS} limits`)
  .refine(eachKeyOnce, ONCE)
  .meta({
    description: 'The job starts only if fewer than max jobs with the key run, over all workers together.',
    examples: [[{ key: 'customer:42', max: 3 }]],
  });

export const rateFields = {
  limit: wholeNumber(1, MAX_STARTS),
  per: duration(1, 7 * 86_400_000),
  burst: wholeNumber(0, MAX_STARTS).exactOptional(),
};

export const rateList = z
  .array(strict({ key: meterKey, ...rateFields }))
  .max(MAX_KEYS, `at most ${MAX_KEYS} rates`)
  .refine(eachKeyOnce, ONCE)
  .meta({
    description:
      'In no window of per do more than limit + burst attempts with the key start, over all workers together; limit in the long run.',
    examples: [[{ key: 'api:stripe', limit: 10, per: '1s' }]],
  });

/** The same for readers. */
export const metersShape = {
  limits: z.array(z.object({ key: z.string(), max: z.number() })),
  rates: z.array(
    z.object({
      key: z.string(),
      limit: z.number(),
      per: z.number().meta({ description: 'Milliseconds.' }),
      burst: z.number(),
    }),
  ),
};

type WireRates = z.output<typeof rateList>;

export function ratesFrom(rates: WireRates | undefined): JobSpec['rates'] {
  if (rates === undefined) return DEFAULT_SPEC.rates;
  return rates.map(({ key, limit, per, burst }) => ({ key, limit, perMs: per, burst: burst ?? 0 }));
}

export function metersToWire({ limits, rates }: Pick<JobSpec, 'limits' | 'rates'>) {
  return {
    limits: limits.map(({ key, max }) => ({ key, max })),
    rates: rates.map(({ key, limit, perMs, burst }) => ({ key, limit, per: perMs, burst })),
  };
}
