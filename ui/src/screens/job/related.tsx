import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import type { JobDetail } from '../../../../src/api/job.ts';
import { client } from '../../data/client.ts';
import { useLive } from '../../data/use-live.ts';
import { JobGroup } from '../../parts/job-group.tsx';
import { visibleLine } from '../../words/visible-text.ts';

const SHOWN_ITEMS = 50;

/** The job's parents, children and items, and jobs of the same name. */
export function Related({ job }: { job: JobDetail }) {
  const parentIds = job.depends_on.map((parent) => parent.job).slice(0, 200);
  const parents = useLive({
    key: ['jobs', 'of', parentIds.join()],
    enabled: parentIds.length > 0,
    about: { topics: ['jobs'], ids: parentIds },
    fetch: (signal) => client.listJobs({ ids: parentIds.join(), limit: 200 }, { signal }),
  });
  const children = useLive({
    key: ['children', job.id],
    about: { topics: ['jobs'] },
    fetch: (signal) => client.listJobs({ parent_id: job.id, limit: 50 }, { signal }),
  });
  const items = useLive({
    key: ['items', job.id, SHOWN_ITEMS],
    about: { topics: ['jobs'] },
    fetch: (signal) => client.listJobs({ group_id: job.id, limit: SHOWN_ITEMS }, { signal }),
  });
  const twins = useQuery({
    queryKey: ['twins', job.name],
    enabled: job.name !== null,
    queryFn: ({ signal }) => client.listJobs({ name: job.name ?? '', limit: 20 }, { signal }),
  });
  return (
    <div className="details-grid">
      <JobGroup title="Parents" jobs={parents.data?.items ?? []} />
      <JobGroup title="Children" jobs={children.data?.items ?? []} />
      {(items.data?.items.length ?? 0) > 0 && (
        <JobGroup title="Items" jobs={items.data?.items ?? []} more={`/jobs?group_id=${job.id}`} />
      )}
      {job.rerun_of !== null && (
        <section className="card">
          <h2>Rerun of</h2>
          <Link href={`/jobs/${job.rerun_of}`}>job {job.rerun_of}</Link>
        </section>
      )}
      {job.name !== null && (
        <JobGroup
          title={`Other runs of ${visibleLine(job.name)}`}
          jobs={(twins.data?.items ?? []).filter(({ id }) => id !== job.id)}
          more={`/jobs?name=${encodeURIComponent(job.name)}`}
        />
      )}
    </div>
  );
}
