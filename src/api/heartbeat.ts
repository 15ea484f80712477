/** A worker says that it lives and what it holds, and hears what it should stop. */

import { z } from 'zod';
import { instant, storeId, wholeNumber, wireId } from './fields.ts';
import { named } from './schemas.ts';

export const attemptNumber = wholeNumber(1, 2 ** 31 - 1);

export const Heartbeat = named(
  'Heartbeat',
  z.object({
    leases: z
      .array(z.object({ job_id: storeId, attempt: attemptNumber }))
      .max(100_000)
      .nullable()
      .default(null)
      .meta({ description: 'All that it holds. null: renew whatever it holds.' }),
    started: z
      .array(z.object({ job_id: storeId, attempt: attemptNumber, started_at: instant }))
      .max(100_000)
      .default([])
      .meta({ description: 'Of jobs that were prefetched: those that have started, and when.' }),
    seen_claim: wholeNumber(0, Number.MAX_SAFE_INTEGER)
      .nullable()
      .default(null)
      .meta({ description: 'The highest claim_seq that was answered or finally given up.' }),
  }),
);
export type Heartbeat = z.output<typeof Heartbeat>;

const lease = z.object({ job_id: wireId, attempt: z.number() });

export const HeartbeatAnswer = named(
  'HeartbeatAnswer',
  z.object({
    cancel: z.array(lease).meta({ description: 'Held, but somebody asked for it to stop.' }),
    lost: z.array(lease).meta({ description: "Listed, but no longer this worker's: stop it, report nothing." }),
    drain: z.boolean().meta({ description: 'Finish what you have and leave.' }),
  }),
);
export type HeartbeatAnswer = z.output<typeof HeartbeatAnswer>;

export function leaseToWire(lease: { jobId: number; attempt: number }): { job_id: string; attempt: number } {
  return { job_id: String(lease.jobId), attempt: lease.attempt };
}

export function leaseFromWire(lease: { job_id: string; attempt: number }): { jobId: number; attempt: number } {
  return { jobId: Number(lease.job_id), attempt: lease.attempt };
}
