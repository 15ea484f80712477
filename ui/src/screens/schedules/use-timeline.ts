import type { Timeline } from '../../../../src/api/timeline.ts';
import { client } from '../../data/client.ts';
import { useLive } from '../../data/use-live.ts';

/** The ticks of all schedules in a range, and those to come. */
export function useTimeline({ from, ahead, each }: { from: string; ahead: string; each: number }) {
  return useLive<Timeline>({
    key: ['timeline', from, ahead, each],
    about: { topics: ['jobs'], restMs: 3_000 },
    keep: true,
    everyMs: 15_000,
    fetch: (signal) => client.readTimeline({ from, ahead, each, signal }),
  });
}
