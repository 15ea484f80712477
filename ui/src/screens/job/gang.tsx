import { Link } from 'wouter';
import type { JobDetail } from '../../../../src/api/job.ts';
import { client } from '../../data/client.ts';
import { useLive } from '../../data/use-live.ts';
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
    fetch: (signal) => client.jobs({ tag: [`gang:${gang?.id}`], limit: MAX_SHOWN }, { signal }),
  });
  const all = (members.data?.items ?? []).toSorted((a, b) => (a.gang?.rank ?? 0) - (b.gang?.rank ?? 0));
  if (gang === null || all.length === 0) return null;
  return (
    <section className="stack" aria-label="Gang">
      <p className="why-line">
        Rank {gang.rank} of a gang of {gang.min < gang.size ? `${gang.min} to ${gang.size}` : gang.size}.{' '}
        <Link href={gangHref(gang.id)}>All members</Link>
      </p>
      <div className="table-frame">
        <table className="table">
          <thead>
            <tr>
              <th scope="col">Rank</th>
              <th scope="col">Job</th>
              <th scope="col">State</th>
              <th scope="col">Worker</th>
              <th scope="col">Attempts</th>
              <th scope="col">Failures</th>
            </tr>
          </thead>
          <tbody>
            {all.map((member) => (
              <tr key={member.id} aria-current={member.id === job.id ? 'true' : undefined}>
                <td>{member.gang?.rank}</td>
                <td>
                  <Link href={`/jobs/${member.id}`}>job {member.id}</Link>
                </td>
                <td>
                  <State of={member.status} />
                </td>
                <td>{member.worker_id !== null && <WorkerName id={member.worker_id} />}</td>
                <td>{member.attempts}</td>
                <td>{member.failures}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
