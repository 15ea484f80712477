import { useState } from 'react';
import { Link, useSearchParams } from 'wouter';
import type { Attempt, JobDetail } from '../../../../src/api/job.ts';
import { client } from '../../data/client.ts';
import { useLive } from '../../data/use-live.ts';
import { Empty, Loading, Problem } from '../../parts/notes.tsx';
import { PageHead, useTitle } from '../../parts/page-head.tsx';
import { Progress } from '../../parts/progress.tsx';
import { State } from '../../parts/state.tsx';
import { Tabs } from '../../parts/tabs.tsx';
import { jobTitle } from '../../words/job-title.ts';
import { isMissing } from '../../words/message-of.ts';
import { AttemptBar } from './attempt-bar.tsx';
import { Attempts } from './attempts.tsx';
import { CommandLine } from './command-line.tsx';
import { Details } from './details.tsx';
import { Gang } from './gang.tsx';
import { isGroup } from './is-group.ts';
import { Items } from './items.tsx';
import { JobActions } from './job-actions.tsx';
import { LogView } from './log-view.tsx';
import { Origin } from './origin.tsx';
import { Related } from './related.tsx';
import { Timeline } from './timeline.tsx';
import { Why } from './why.tsx';

const attemptsOf = (id: string) => (signal: AbortSignal) => Array.fromAsync(client.listAttempts(id, { signal }));

/** One job: its state and the reason for it, its log and other views, and its actions. */
export function JobScreen({ id }: { id: string }) {
  const about = { topics: ['jobs' as const], ids: [id] };
  const job = useLive({ key: ['job', id], about, fetch: (signal) => client.readJob(id, { signal }) });
  const attempts = useLive({ key: ['attempts', id], about, fetch: attemptsOf(id) });
  const [search, choose] = useChoices();
  const [retries, setRetries] = useState(0);
  useTitle(job.data === undefined ? `Job ${id}` : `${job.data.status}: ${jobTitle(job.data)}`);
  if (isMissing(job.error)) {
    return (
      <Empty alone title={`There is no job ${id}`}>
        <Link href="/jobs">All jobs</Link>
      </Empty>
    );
  }
  if (job.data === undefined)
    return job.error === null ? <Loading /> : <Problem error={job.error} onRetry={() => void job.refetch()} />;
  const data = job.data;
  const chosen = search.get('attempt');
  const tabs = tabsOf({ job: data, attempts: attempts.data ?? [], chosen, retries, choose });
  return (
    <section className="screen screen-tall">
      <PageHead
        title={<bdi>{jobTitle(data)}</bdi>}
        sub={
          <span className="job-facts">
            <State of={data.status} /> <span className="faint">job {data.id}</span>
            <Origin job={data} />
          </span>
        }
      >
        <JobActions job={data} onRetried={() => setRetries(retries + 1)} />
      </PageHead>
      <CommandLine job={data} />
      <Progress job={data} />
      <Why job={data} />
      <Items job={data} />
      <Gang job={data} />
      <AttemptBar
        job={data}
        attempts={attempts.data ?? []}
        chosen={chosen}
        onChoose={(attempt) => choose({ tab: null, attempt })}
      />
      {chosen !== null && (
        <p className="note">
          Showing attempt {chosen} only.{' '}
          <button type="button" className="link" onClick={() => choose({ attempt: null })}>
            Show the latest
          </button>
        </p>
      )}
      <Tabs
        label="About this job"
        tabs={tabs}
        chosen={search.get('tab') ?? (isGroup(data) ? 'related' : 'log')}
        onChoose={(key) => choose({ tab: key === 'log' ? null : key })}
      />
    </section>
  );
}

/** The choices that live in the address, and a function that changes some of them; `null` removes one. */
function useChoices() {
  const [search, setSearch] = useSearchParams();
  const choose = (change: Record<string, string | null>): void => {
    setSearch(
      (before) => {
        const next = new URLSearchParams(before);
        for (const [name, value] of Object.entries(change)) {
          if (value === null) next.delete(name);
          else next.set(name, value);
        }
        return next;
      },
      { replace: true },
    );
  };
  return [search, choose] as const;
}

interface TabsInput {
  job: JobDetail;
  attempts: readonly Attempt[];
  /** The attempt whose log is shown; `null` for the current one. */
  chosen: string | null;
  retries: number;
  choose: (change: Record<string, string | null>) => void;
}

function tabsOf({ job, attempts, chosen, retries, choose }: TabsInput) {
  return [
    {
      key: 'log',
      label: 'Log',
      content: () => (
        <LogView
          key={chosen}
          jobId={job.id}
          attempt={chosen === null ? null : Number(chosen)}
          again={retries}
          status={job.status}
          started={job.attempts > 0}
        />
      ),
    },
    {
      key: 'attempts',
      label: `Attempts (${attempts.length})`,
      content: () => (
        <Attempts attempts={attempts} onLog={(attempt) => choose({ tab: null, attempt: String(attempt) })} />
      ),
    },
    { key: 'timeline', label: 'Timeline', content: () => <Timeline job={job} attempts={attempts} /> },
    { key: 'details', label: 'Details', content: () => <Details job={job} /> },
    { key: 'related', label: 'Related', content: () => <Related job={job} /> },
  ].filter(({ key }) => (key !== 'attempts' || attempts.length > 0) && (key !== 'log' || !isGroup(job)));
}
