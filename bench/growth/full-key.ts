/** Many jobs of one key whose limit is full, and a few of other keys: what a claim costs. */

import { NEVER } from '../../src/core/never.ts';
import type { Store } from '../../src/store/store.ts';
import { registerWorker, submitMany } from './drain.ts';

export const FULL_KEYS = { few: 10_000, many: 100_000 };
export const MAX_GROWTH = 1.15;
/** Claims that are measured. */
export const CLAIMS = 5;
/** The jobs that each of them wants. */
const WANTED = 10;

/** Fills the limit of a key, and submits `count` more jobs of it. Returns the worker. */
export async function fillKey(store: Store, count: number): Promise<number> {
  const { id } = await registerWorker(store);
  const job = { limits: [{ key: 'full', max: 1 }] };
  await submitMany(store, 1, () => job);
  await claimOthers(store, id);
  await submitMany(store, count, () => job);
  return id;
}

/** Claims until all jobs of the key are parked. */
export async function parkAll(store: Store, workerId: number): Promise<void> {
  for (let parked = -1, before = -2; parked > before; ) {
    await claimOthers(store, workerId);
    [before, parked] = [parked, (await store.limits(NEVER))[0]?.waiting ?? 0];
  }
}

/** Submits jobs of other keys, as many as the claims want. */
export function submitOthers(store: Store, round: number): Promise<void> {
  const job = (place: number) => ({ limits: [{ key: `other ${round} ${place}`, max: 1 }] });
  return submitMany(store, CLAIMS * WANTED, job);
}

export async function claimOthers(store: Store, workerId: number): Promise<number> {
  const offer = { queues: null, commands: false, handlers: ['noop'], tags: [], free: {} };
  return (await store.claim({ workerId, limit: WANTED, offer, claimSeq: 1 }, NEVER)).length;
}
