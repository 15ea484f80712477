import { useState } from 'react';
import type { JobDetail } from '../../../../src/api/job.ts';
import { client } from '../../data/client.ts';
import { useLive } from '../../data/use-live.ts';
import { AttemptBar } from './attempt-bar.tsx';
import { LogView } from './log-view.tsx';

/** The attempts of a job in a panel, above the log of the one that was chosen, else of the latest. */
export function AttemptLog({ job }: { job: JobDetail }) {
  const [chosen, setChosen] = useState<string | null>(null);
  const attempts = useLive({
    key: ['attempts', job.id],
    about: { topics: ['jobs'], ids: [job.id] },
    fetch: (signal) => Array.fromAsync(client.listAttempts(job.id, { signal })),
  });
  return (
    <>
      <AttemptBar job={job} attempts={attempts.data ?? []} chosen={chosen} onChoose={setChosen} />
      <LogView
        key={chosen}
        jobId={job.id}
        attempt={chosen === null ? null : Number(chosen)}
        again={0}
        status={job.status}
        started={job.attempts > 0}
      />
    </>
  );
}
