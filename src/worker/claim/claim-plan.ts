/** Decides what the next claim asks for: jobs for the free slots, or jobs to prefetch. */

import type { SourceClaim, WorkerProfile } from '../job-source.ts';
import type { Slots } from '../run/slots.ts';
import type { Prefetch } from './prefetch.ts';

/** The longest wait of a claim while some of the worker's resources are in use. */
const SHORT_WAIT_MS = 1_000;

export type ClaimPlan = Omit<SourceClaim, 'claimSeq'>;

interface Capacity {
  profile: WorkerProfile;
  slots: Slots;
  prefetch: Prefetch;
  /** The time that one claim waits for work. */
  maxWaitMs: number;
}

/** Returns the next claim; `undefined` if no slot is free and there is no need to prefetch. */
export function planClaim(workerId: number, { profile, slots, prefetch, maxWaitMs }: Capacity): ClaimPlan | undefined {
  const { queues, commands, handlers, tags } = profile;
  const plan = { workerId, offer: { queues, commands, handlers, tags, free: slots.freeResources() } };
  const wantedPrefetch = handlers.length === 0 ? 0 : prefetch.wanted(slots.total);
  if (wantedPrefetch > 0) return { ...plan, prefetch: true, limit: wantedPrefetch, waitMs: 0 };
  const limit = prefetch.size > 0 ? 0 : slots.free;
  if (limit <= 0) return undefined;
  // Resources that become free end the wait, so that the next claim offers them. The call that ends it may get lost.
  const waitMs = slots.isShort ? Math.min(maxWaitMs, SHORT_WAIT_MS) : maxWaitMs;
  return { ...plan, prefetch: false, limit, waitMs };
}
