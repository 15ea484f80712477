import { Link } from 'wouter';
import { jobTitle } from '../words/job-title.ts';

/** A link to a job, with its title. */
export function JobLink({ job }: { job: Parameters<typeof jobTitle>[0] }) {
  const title = jobTitle(job);
  return (
    <Link href={`/jobs/${job.id}`} className="job-link" title={title}>
      <bdi>{title}</bdi>
    </Link>
  );
}
