import { client } from '../../data/client.ts';
import { useLive } from '../../data/use-live.ts';
import { JobLink } from '../../parts/job-link.tsx';
import { Progress } from '../../parts/progress.tsx';
import { State } from '../../parts/state.tsx';
import { Elapsed } from '../../parts/when.tsx';

const MAX_SHOWN = 8;

/** The running jobs of one worker or of all. */
export function NowRunning({ workerId }: { workerId?: string }) {
  const running = useLive({
    key: ['running', workerId ?? ''],
    about: { topics: ['jobs'] },
    keep: true,
    fetch: (signal) =>
      client.listJobs(
        { status: 'running', limit: MAX_SHOWN, ...(workerId === undefined ? {} : { worker_id: workerId }) },
        { signal },
      ),
  });
  const jobs = running.data?.items ?? [];
  if (jobs.length === 0) return <p className="faint">Nothing is running.</p>;
  return (
    <ul className="job-list" aria-label="Running now">
      {jobs.map((job) => (
        <li key={job.id}>
          <State of="running" quiet />
          <JobLink job={job} />
          <Progress job={job} bare />
          <span className="faint">
            <Elapsed from={job.started_at} to={null} />
          </span>
        </li>
      ))}
    </ul>
  );
}
