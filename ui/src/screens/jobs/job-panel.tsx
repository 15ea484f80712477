import { Link } from 'wouter';
import { client } from '../../data/client.ts';
import { useLive } from '../../data/use-live.ts';
import { Loading, Problem } from '../../parts/notes.tsx';
import { Progress } from '../../parts/progress.tsx';
import { State } from '../../parts/state.tsx';
import { jobTitle } from '../../words/job-title.ts';
import { AttemptLog } from '../job/attempt-log.tsx';
import { CommandLine } from '../job/command-line.tsx';
import { isGroup } from '../job/is-group.ts';
import { Items } from '../job/items.tsx';
import { Origin } from '../job/origin.tsx';
import { Why } from '../job/why.tsx';

/** A job beside the list: its facts and its log. */
export function JobPanel({ id, onClose }: { id: string; onClose: () => void }) {
  const job = useLive({
    key: ['job', id],
    about: { topics: ['jobs'], ids: [id] },
    fetch: (signal) => client.readJob(id, { signal }),
  });
  const { data } = job;
  return (
    <aside className="job-panel" aria-label={`Job ${id}`}>
      <header className="panel-head">
        {data !== undefined && (
          <>
            <State of={data.status} />
            <h2>
              <Link href={`/jobs/${id}`}>
                <bdi>{jobTitle(data)}</bdi>
              </Link>
            </h2>
            <span className="faint">job {id}</span>
            <Origin job={data} />
          </>
        )}
        <span className="spacer" />
        <button type="button" className="plain" aria-label="Close the panel" onClick={onClose}>
          ×
        </button>
      </header>
      {job.error !== null && <Problem error={job.error} onRetry={() => void job.refetch()} />}
      {data === undefined ? (
        job.error === null && <Loading />
      ) : (
        <>
          <CommandLine job={data} />
          <Progress job={data} />
          <Why job={data} />
          <Items job={data} />
          {!isGroup(data) && <AttemptLog job={data} />}
        </>
      )}
    </aside>
  );
}
