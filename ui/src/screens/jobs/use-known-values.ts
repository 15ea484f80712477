import type { Job } from '../../../../src/api/job.ts';
import { client } from '../../data/client.ts';
import { useLive } from '../../data/use-live.ts';
import { ALL_STATES } from '../../words/state.ts';

interface Known {
  value: string;
  about: string;
}

const REASONS = [
  'exit',
  'signal',
  'timeout',
  'lost',
  'interrupted',
  'fatal',
  'cancelled',
  'upstream_failed',
  'condition',
  'expired',
  'limit',
  'gang',
] as const satisfies readonly NonNullable<Job['reason']>[];

const TIMES: readonly Known[] = [
  { value: '15m', about: '15 minutes ago' },
  { value: '1h', about: 'an hour ago' },
  { value: '24h', about: 'a day ago' },
  { value: '7d', about: 'a week ago' },
];

/** The values that a key of the filter can have, as far as they are known. */
export function useKnownValues(enabled: boolean): Readonly<Record<string, readonly Known[]>> {
  const about = { topics: [] };
  const queues = useLive({
    key: ['queues'],
    enabled,
    about,
    fetch: (signal) => Array.fromAsync(client.listQueues({ signal })),
  });
  const workers = useLive({
    key: ['workers'],
    enabled,
    about,
    fetch: (signal) => Array.fromAsync(client.listWorkers({ signal })),
  });
  const recent = useLive({
    key: ['jobs', 'recent'],
    enabled,
    about,
    fetch: (signal) => client.listJobs({ limit: 200 }, { signal }),
  });
  const jobs = recent.data?.items ?? [];
  return {
    status: ALL_STATES.map((value) => ({ value, about: '' })),
    queue: counted([...(queues.data ?? []).map(({ name }) => name), ...jobs.map(({ queue }) => queue)]),
    name: counted(jobs.flatMap(({ name }) => name ?? [])),
    tag: counted(jobs.flatMap(({ tags }) => tags)),
    by: counted(jobs.flatMap(({ submitted_by }) => submitted_by ?? [])),
    worker: (workers.data ?? []).map(({ id, name }) => ({ value: id, about: name })),
    reason: REASONS.map((value) => ({ value, about: '' })),
    since: TIMES,
    until: TIMES,
  };
}

/** Each value once, the most frequent first. */
function counted(values: readonly string[]): Known[] {
  return [...Map.groupBy(values, (value) => value)]
    .sort((a, b) => b[1].length - a[1].length)
    .map(([value]) => ({ value, about: '' }));
}
