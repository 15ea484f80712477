import { useState } from 'react';
import { Link } from 'wouter';
import type { Failures } from '../../../../src/api/failures.ts';
import { client } from '../../data/client.ts';
import { useAction } from '../../data/use-action.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { May } from '../../parts/may.tsx';
import { When } from '../../parts/when.tsx';
import { workron } from '../../words/as-command.ts';
import { compactText, countText } from '../../words/count.ts';
import { visibleLine } from '../../words/visible-text.ts';
import { Sparkline } from './sparkline.tsx';
import { useFailures } from './use-failures.ts';

const MAX_SHOWN = 6;
/** Ids on a command line. */
const MAX_LISTED = 20;

type Group = Failures['items'][number];

/** The failures of the last day, grouped by error, each with its trend and a way to retry all of it. */
export function Attention() {
  const failures = useFailures();
  const [asked, setAsked] = useState<Group | null>(null);
  const groups = failures.data?.items ?? [];
  const retry = useAction({
    run: (group: Group) => client.bulkJobs({ action: 'retry', filter: { ids: group.job_ids } }),
    done: (answer) => `Retrying ${countText(answer.total, 'job')}`,
  });
  return (
    <section className="card" aria-labelledby="attention">
      <header className="card-head">
        <h2 id="attention">Needs attention</h2>
        <Link href="/jobs?status=failed&from=24h">All failures</Link>
      </header>
      {groups.length === 0 ? (
        <p className="faint">{failures.data === undefined ? 'Loading…' : 'No failures in the last 24 hours.'}</p>
      ) : (
        <ul className="failure-list">
          {groups.slice(0, MAX_SHOWN).map((group) => (
            <FailureLine key={`${group.title} ${group.error}`} group={group} onRetry={() => setAsked(group)} />
          ))}
        </ul>
      )}
      {groups.length > MAX_SHOWN && (
        <p className="faint small-text">and {countText(groups.length - MAX_SHOWN, 'other error')}</p>
      )}
      {asked !== null && (
        <Confirm
          title={`Retry ${countText(asked.job_ids.length, 'job')} of ${visibleLine(asked.title)}?`}
          verb={`Retry ${countText(asked.job_ids.length, 'job')}`}
          {...(asked.job_ids.length <= MAX_LISTED ? { cli: workron(`retry ${asked.job_ids.join(' ')}`) } : {})}
          onConfirm={() => retry.run(asked)}
          onClose={() => setAsked(null)}
        >
          <p>
            These jobs failed with “{visibleLine(asked.error)}”. Each gets all its attempts again; jobs that are no
            longer failed are left alone.
          </p>
        </Confirm>
      )}
    </section>
  );
}

function FailureLine({ group, onRetry }: { group: Group; onRetry: () => void }) {
  const href =
    group.name === null
      ? `/jobs/${group.last_job_id}`
      : `/jobs?status=failed&from=24h&name=${encodeURIComponent(group.name)}`;
  return (
    <li>
      <span className="failure-count">{compactText(group.count)}</span>
      <span className="failure-what">
        <Link href={href}>
          <bdi>{visibleLine(group.title)}</bdi>
        </Link>
        <span className="failure-error" title={visibleLine(group.error)}>
          {visibleLine(group.error)}
        </span>
      </span>
      <Sparkline values={group.trend} label={`${countText(group.count, 'failure')} in 24 hours`} />
      <Link href={`/jobs/${group.last_job_id}`} className="faint small-text failure-when" title="Open the last one">
        <When at={group.last_at} />
      </Link>
      <May scope="operate">
        <button type="button" className="small" onClick={onRetry}>
          Retry all<span className="visually-hidden"> of {visibleLine(group.title)}</span>
        </button>
      </May>
    </li>
  );
}
