import { useQuery } from '@tanstack/react-query';
import { useLocation } from 'wouter';
import type { JobDetail } from '../../../../src/api/job.ts';
import { client } from '../../data/client.ts';
import { useAction } from '../../data/use-action.ts';
import { useMay, useSession } from '../../data/use-may.ts';
import { notifyQueues, workflowQueues } from '../../words/needed-queues.ts';

/** For those who may submit to the queues that it needs: for a step, those of its whole workflow. */
export function RunAgain({ job }: { job: JobDetail }) {
  const may = useMay();
  const queues = useQueues(job);
  const [, go] = useLocation();
  const again = useAction({
    run: () => runAgain(job),
    done: (place) => `Submitted ${place.words}`,
    after: (place) => go(place.path),
  });
  if (queues === undefined || !may('submit', ...queues)) return null;
  return (
    <button type="button" disabled={again.running} onClick={() => again.run()}>
      {job.index === null ? 'Run again' : 'Run whole step again'}
    </button>
  );
}

/** The queues that it needs; `undefined` until they are known. The workflow is read only for users who are restricted to queues. */
function useQueues({ queue, notify, workflow_id }: JobDetail): readonly string[] | undefined {
  const restricted = (useSession()?.queues ?? null) !== null;
  const workflow = useQuery({
    queryKey: ['workflow', workflow_id],
    enabled: restricted && workflow_id !== null,
    queryFn: ({ signal }) => client.readWorkflow(workflow_id ?? '', { signal }),
  });
  if (!restricted || workflow_id === null) return [queue, ...notifyQueues(notify)];
  return workflow.data && workflowQueues(workflow.data);
}

/** A job runs again as it was submitted. A step needs its workflow, and runs again in a new one, with all its items. */
async function runAgain(job: JobDetail): Promise<{ words: string; path: string }> {
  if (job.workflow_id === null || job.step === null) {
    const { id } = await client.rerunJob(job.id);
    return { words: `job ${id}`, path: `/jobs/${id}` };
  }
  const { id } = await client.rerunWorkflow(job.workflow_id, { from: job.step, only: true });
  return { words: `workflow ${id}`, path: `/workflows/${id}` };
}
