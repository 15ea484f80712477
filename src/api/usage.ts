/** What the processes of an attempt have used, on the wire. */

import { z } from 'zod';
import type { Usage as DomainUsage } from '../core/outcome.ts';
import { wholeNumber } from './fields.ts';
import { named } from './schemas.ts';

const amount = wholeNumber(0, Number.MAX_SAFE_INTEGER);

export const Usage = named(
  'Usage',
  z.object({
    cpu_ms: amount.meta({
      description: 'Processor time, in milliseconds, of the command and the processes that it waited for.',
    }),
    max_rss_bytes: amount
      .nullable()
      .default(null)
      .meta({ description: 'The most memory that one of them had at a time; null if it is too little to be known.' }),
  }),
);

export function usageFromWire({ cpu_ms, max_rss_bytes }: z.output<typeof Usage>): DomainUsage {
  return { cpuMs: cpu_ms, maxRssBytes: max_rss_bytes };
}

export function usageToWire({ cpuMs, maxRssBytes }: DomainUsage): z.output<typeof Usage> {
  return { cpu_ms: cpuMs, max_rss_bytes: maxRssBytes };
}
