import { Link } from 'wouter';
import type { JobDetail } from '../../../../src/api/job.ts';
import { client } from '../../data/client.ts';
import { useLive } from '../../data/use-live.ts';
import { Listing } from '../../parts/listing.tsx';
import { State } from '../../parts/state.tsx';
import { gangHref } from '../../words/gang.ts';
import { WorkerName } from './worker-name.tsx';

const MAX_SHOWN = 200;

/** The members of the job's gang by rank, with the worker and status of each. */
export function Gang({ job }: { job: JobDetail }) {
  const { gang } = job;
  const members = useLive({
    key: ['gang', gang?.id ?? ''],
    enabled: gang !== null && gang.id !== '',
    about: { topics: ['jobs', 'workers'] },
    fetch: (signal) => client.listJobs({ tag: [`gang:${gang?.id}`], limit: MAX_SHOWN }, { signal }),
  });
  const all = (members.data?.items ?? []).toSorted((a, b) => (a.gang?.rank ?? 0) - (b.gang?.rank ?? 0));
  if (gang === null || all.length === 0) return null;
  return (
    <section className="stack" aria-label="Gang">
      <p className="why-line">
        Rank {gang.rank} of a gang of {gang.min < gang.size ? `${gang.min} to ${gang.size}` : gang.size}.{' '}
        <Link href={gangHref(gang.id)}>All members</Link>
      </p>
      <Listing title="Members" columns={['Rank', 'Job', 'State', 'Worker', 'Attempts', 'Failures']}>
        {all.map((member) => (
          <tr key={member.id} aria-current={member.id === job.id ? 'true' : undefined}>
            <td data-label="Rank">{member.gang?.rank}</td>
            <th scope="row">
              <Link href={`/jobs/${member.id}`}>job {member.id}</Link>
            </th>
            <td>
              <State of={member.status} />
            </td>
            {member.worker_id === null ? (
              <td />
            ) : (
              <td data-label="Worker">
                <WorkerName id={member.worker_id} />
              </td>
            )}
            <td data-label="Attempts">{member.attempts}</td>
            <td data-label="Failures">{member.failures}</td>
          </tr>
        ))}
      </Listing>
    </section>
  );
}
