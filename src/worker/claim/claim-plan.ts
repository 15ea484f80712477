/** What a worker asks for: jobs for its free slots, or some ahead of them. */

import type { WorkerProfile } from '../job-source.ts';
import type { Slots } from '../run/slots.ts';
import type { ClaimPlan } from './claimer.ts';
import type { Prefetch } from './prefetch.ts';

/** While some of its resources are taken. */
const SHORT_WAIT_MS = 1_000;

export interface Room {
  profile: WorkerProfile;
  slots: Slots;
  prefetch: Prefetch;
  /** How long one claim waits for work. */
  longestMs: number;
}

/** `undefined` while there is no room. */
export function planClaim(workerId: number, { profile, slots, prefetch, longestMs }: Room): ClaimPlan | undefined {
  const { queues, commands, handlers, tags } = profile;
  const wish = { workerId, offer: { queues, commands, handlers, tags, free: slots.freeResources() } };
  const wantedPrefetch = handlers.length === 0 ? 0 : prefetch.wanted(slots.total);
  if (wantedPrefetch > 0) return { ...wish, prefetch: true, limit: wantedPrefetch, waitMs: 0 };
  const limit = prefetch.size > 0 ? 0 : slots.free;
  if (limit <= 0) return undefined;
  // What comes free meanwhile is offered by the next claim only.
  const waitMs = slots.isShort ? Math.min(longestMs, SHORT_WAIT_MS) : longestMs;
  return { ...wish, prefetch: false, limit, waitMs };
}
