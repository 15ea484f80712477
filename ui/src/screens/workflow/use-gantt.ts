import { useQuery } from '@tanstack/react-query';
import type { WorkflowDetail } from '../../../../src/api/workflow/workflow.ts';
import { client } from '../../data/client.ts';
import { useLive } from '../../data/use-live.ts';
import { usualOf } from './gantt-data.ts';

const MAX_ITEMS = 200;
const MAX_FETCHED = 60;
/** How many earlier runs the medians are of. */
const EARLIER_RUNS = 7;

/** The attempts of steps that were tried again, by job. Each is fetched alone, so only the first ones are. */
export function useRetries({ id, steps }: WorkflowDetail) {
  const tried = steps.filter(({ attempts }) => attempts > 1).slice(0, MAX_FETCHED);
  const { data } = useLive({
    key: ['gantt', id, 'attempts', tried.map(({ job_id, attempts }) => `${job_id}/${attempts}`).join()],
    enabled: tried.length > 0,
    keep: true,
    about: { topics: ['jobs'], ids: tried.map(({ job_id }) => job_id) },
    fetch: async (signal) =>
      Promise.all(
        tried.map(
          async ({ job_id }) => [job_id, await Array.fromAsync(client.listAttempts(job_id, { signal }))] as const,
        ),
      ),
  });
  return new Map(data);
}

/** The items of `for_each` steps, by the job of the step. */
export function useItems({ id, steps }: WorkflowDetail) {
  const groups = steps.filter(({ group }) => group !== null).slice(0, MAX_FETCHED);
  const { data } = useLive({
    key: ['gantt', id, 'items'],
    enabled: groups.length > 0,
    about: { topics: ['jobs'], restMs: 2_000 },
    fetch: async (signal) =>
      Promise.all(
        groups.map(async ({ job_id }) => {
          const { items } = await client.listJobs({ group_id: job_id, limit: MAX_ITEMS }, { signal });
          return [job_id, items] as const;
        }),
      ),
  });
  return new Map(data);
}

/** How the steps went in the last earlier runs of the same name that succeeded. They do not change any more. */
export function useUsual({ id, name }: WorkflowDetail) {
  const { data } = useQuery({
    queryKey: ['gantt', id, 'earlier'],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }) => {
      const { items } = await client.listWorkflows({ name, status: 'done', limit: 50 }, { signal });
      const earlier = items.filter((run) => Number(run.id) < Number(id) && run.rerun_of === null);
      const runs = earlier.slice(0, EARLIER_RUNS).map((run) => client.readWorkflow(run.id, { signal }));
      return { count: runs.length, steps: usualOf(await Promise.all(runs)) };
    },
  });
  return data;
}
