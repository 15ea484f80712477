/** What a worker asks for: jobs for its free slots, or some ahead of them. */

import type { Ahead } from './ahead.ts';
import type { ClaimWish } from './claimer.ts';
import type { WorkerProfile } from './job-source.ts';
import type { Slots } from './slots.ts';

/** While some of its resources are taken. */
const SHORT_WAIT_MS = 1_000;

export interface Room {
  profile: WorkerProfile;
  slots: Slots;
  ahead: Ahead;
  /** How long one claim waits for work. */
  longestMs: number;
}

/** `undefined` while there is no room. */
export function claimWish(workerId: number, { profile, slots, ahead, longestMs }: Room): ClaimWish | undefined {
  const { queues, commands, handlers, tags } = profile;
  const wish = { workerId, offer: { queues, commands, handlers, tags, free: slots.freeResources() } };
  const wantedAhead = handlers.length === 0 ? 0 : ahead.wanted(slots.total);
  if (wantedAhead > 0) return { ...wish, ahead: true, limit: wantedAhead, waitMs: 0 };
  const limit = ahead.size > 0 ? 0 : slots.free;
  if (limit <= 0) return undefined;
  // What comes free meanwhile is offered by the next claim only.
  const waitMs = slots.isShort ? Math.min(longestMs, SHORT_WAIT_MS) : longestMs;
  return { ...wish, ahead: false, limit, waitMs };
}
