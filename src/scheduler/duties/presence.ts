/** Says that this process is there, for as long as it is. */

import type { NewInstance } from '../../core/instance.ts';
import type { Loop } from '../../ops/loop.ts';
import type { SchedulerContext } from '../context.ts';

const SHARED_BEAT_MS = 5_000;
/** Where the store has one owner nobody else looks, and a beat is a write to its disk. */
const EXCLUSIVE_BEAT_MS = 600_000;

export function presence({ store }: SchedulerContext, instance: Omit<NewInstance, 'beatMs'>): Loop {
  const beatMs = store.exclusive ? EXCLUSIVE_BEAT_MS : SHARED_BEAT_MS;
  return {
    name: 'presence',
    everyMs: beatMs,
    async tick(signal) {
      await store.beatInstance({ ...instance, beatMs }, signal);
      return undefined;
    },
  };
}
