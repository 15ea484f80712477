import type { Queue } from '../../../src/api/queue.ts';
import type { Waiting } from '../../../src/api/waiting.ts';
import { waitsOfLate } from '../../../src/api/words/worries.ts';
import { client } from './client.ts';
import { useLive } from './use-live.ts';

const NONE: ReadonlyMap<string, Waiting> = new Map();

/** What the oldest jobs wait for, of the queues in which they wait for long. */
export function useWaits(queues: readonly Queue[], now: number): ReadonlyMap<string, Waiting> {
  const waits = useLive({
    key: ['waits', queues.length === 1 ? queues[0]?.name : null],
    about: { topics: ['queues'], restMs: 5_000 },
    everyMs: 10_000,
    fetch: (signal) =>
      waitsOfLate(
        { queues, now },
        {
          pending: async () => (await client.listJobs({ status: 'pending', limit: 200 }, { signal })).items,
          read: (id) => client.readJob(id, { signal }),
        },
      ),
  });
  return waits.data ?? NONE;
}
