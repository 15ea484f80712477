import { Link } from 'wouter';
import { client } from '../../data/client.ts';
import { useLive } from '../../data/use-live.ts';
import { When } from '../../parts/when.tsx';
import { compactText } from '../../words/count.ts';
import { visibleLine } from '../../words/visible-text.ts';

const MAX_SHOWN = 8;

/** The failures of the last day, grouped by error. */
export function FailureGroups() {
  const failures = useLive({
    key: ['failures'],
    about: { topics: ['jobs'], restMs: 3_000 },
    fetch: (signal) => client.failures({ from: '24h', signal }),
  });
  const groups = failures.data?.items ?? [];
  return (
    <section className="card" aria-labelledby="failures">
      <header className="card-head">
        <h2 id="failures">Failures of the last day</h2>
        <Link href="/jobs?status=failed&from=24h">all</Link>
      </header>
      {groups.length === 0 ? (
        <p className="faint">{failures.data === undefined ? 'Loading…' : 'None. '}</p>
      ) : (
        <ul className="failure-list">
          {groups.slice(0, MAX_SHOWN).map((group) => (
            <li key={`${group.title} ${group.error}`}>
              <span className="failure-count tone-red">
                <span aria-hidden="true">✗</span> {compactText(group.count)}
              </span>
              <span className="failure-what">
                <Link
                  href={
                    group.name === null
                      ? `/jobs/${group.last_job_id}`
                      : `/jobs?status=failed&name=${encodeURIComponent(group.name)}`
                  }
                >
                  <bdi>{visibleLine(group.title)}</bdi>
                </Link>
                <span className="failure-error" title={visibleLine(group.error)}>
                  {visibleLine(group.error)}
                </span>
              </span>
              <Link href={`/jobs/${group.last_job_id}`} className="faint">
                <When at={group.last_at} />
              </Link>
            </li>
          ))}
        </ul>
      )}
      {failures.data !== undefined && !failures.data.complete && (
        <p className="faint small-text">Of the newest {compactText(failures.data.scanned)} failures.</p>
      )}
    </section>
  );
}
