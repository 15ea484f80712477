import { Link } from 'wouter';
import type { Job } from '../../../src/api/job.ts';
import { JobLink } from './job-link.tsx';
import { State } from './state.tsx';
import { Took, When } from './when.tsx';

/** Some jobs with a title; `more` is the address of all of them. */
export function JobGroup({ title, jobs, more }: { title: string; jobs: readonly Job[]; more?: string }) {
  return (
    <section className="card">
      <header className="card-head">
        <h2>{title}</h2>
        {more !== undefined && jobs.length > 0 && <Link href={more}>All</Link>}
      </header>
      {jobs.length === 0 ? (
        <p className="faint">None.</p>
      ) : (
        <ul className="job-list">
          {jobs.map((job) => (
            <li key={job.id}>
              <State of={job.status} quiet />
              <JobLink job={job} />
              <span className="faint">
                <Took of={job} />
              </span>
              <span className="faint">
                <When at={job.created_at} />
              </span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
