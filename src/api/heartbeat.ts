/** Heartbeats of workers: they renew leases, and the reply lists the jobs to stop. */

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
      .meta({ description: 'All attempts that the worker holds. null: renew every lease of the worker.' }),
    started: z
      .array(z.object({ job_id: storeId, attempt: attemptNumber, started_at: instant }))
      .max(100_000)
      .default([])
      .meta({ description: 'Prefetched jobs that have started, and when.' }),
    seen_claim: wholeNumber(0, Number.MAX_SAFE_INTEGER)
      .nullable()
      .default(null)
      .meta({ description: 'The highest claim_seq that was answered or given up.' }),
  }),
);
export type Heartbeat = z.output<typeof Heartbeat>;

const lease = z.object({ job_id: wireId, attempt: z.number() });

export const HeartbeatAnswer = named(
  'HeartbeatAnswer',
  z.object({
    cancel: z.array(lease).meta({ description: 'Held by this worker, but cancelled: stop them.' }),
    lost: z
      .array(lease)
      .meta({ description: 'Listed, but no longer leased to this worker: stop them, report nothing.' }),
    drain: z.boolean().meta({ description: 'Finish the running jobs and leave.' }),
  }),
);
export type HeartbeatAnswer = z.output<typeof HeartbeatAnswer>;

export function leaseToWire(lease: { jobId: number; attempt: number }): { job_id: string; attempt: number } {
  return { job_id: String(lease.jobId), attempt: lease.attempt };
}

export function leaseFromWire(lease: { job_id: string; attempt: number }): { jobId: number; attempt: number } {
  return { jobId: Number(lease.job_id), attempt: lease.attempt };
}
