import { client } from '../../data/client.ts';
import { useLive } from '../../data/use-live.ts';

/** The failures of the last day, grouped by error. */
export function useFailures() {
  return useLive({
    key: ['failures'],
    about: { topics: ['jobs'], restMs: 3_000 },
    fetch: (signal) => client.listFailures({ from: '24h', signal }),
  });
}
