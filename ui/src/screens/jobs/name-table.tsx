import { Link } from 'wouter';
import type { ListedJob } from '../../../../src/api/job.ts';
import { client } from '../../data/client.ts';
import { useLive } from '../../data/use-live.ts';
import { Listing } from '../../parts/listing.tsx';
import { Loading, Problem } from '../../parts/notes.tsx';
import { When } from '../../parts/when.tsx';
import { countText, numberText } from '../../words/count.ts';
import { durationText } from '../../words/duration.ts';
import { STATE_ICONS, STATE_TONES } from '../../words/state.ts';
import { visibleLine } from '../../words/visible-text.ts';
import { type JobQuery, searchFrom } from './job-query.ts';
import { byName, type NameGroup } from './name-groups.ts';
import { listQuery } from './use-job-list.ts';

/** Older jobs are not counted: nothing on this page reads all jobs of a large installation. */
const MAX_JOBS = 2_000;
const PAGE_JOBS = 200;

interface NameTableProps {
  query: JobQuery;
  onChoose: (name: string) => void;
}

/** The newest jobs that match, by name; failing names first. */
export function NameTable({ query, onChoose }: NameTableProps) {
  const address = searchFrom(query).toString();
  const newest = useLive({
    key: ['by-name', address],
    keep: true,
    about: { topics: ['jobs'], restMs: 10_000 },
    fetch: (signal) => newestJobs(address, signal),
  });
  if (newest.data === undefined) {
    return newest.error === null ? <Loading /> : <Problem error={newest.error} onRetry={() => void newest.refetch()} />;
  }
  const { jobs, more } = newest.data;
  return (
    <>
      <Listing
        title="Jobs by name"
        className="name-table"
        columns={['Name', 'Jobs', 'Unfinished', 'Failed', 'Median', 'p95', 'Newest runs', 'Submitted']}
      >
        {byName(jobs).map((group) => (
          <Row key={group.title} group={group} onChoose={onChoose} />
        ))}
      </Listing>
      <p className="faint small-text">
        {more ? `The newest ${numberText(MAX_JOBS)} jobs that match are counted.` : `${countText(jobs.length, 'job')}.`}
      </p>
    </>
  );
}

async function newestJobs(address: string, signal: AbortSignal): Promise<{ jobs: ListedJob[]; more: boolean }> {
  const jobs: ListedJob[] = [];
  let cursor: string | null = null;
  do {
    const page = { limit: PAGE_JOBS, ...(cursor === null ? {} : { cursor }) };
    const { items, next_cursor }: { items: ListedJob[]; next_cursor: string | null } = await client.listJobs(
      { ...listQuery(address), ...page },
      { signal },
    );
    jobs.push(...items);
    cursor = next_cursor;
  } while (cursor !== null && jobs.length < MAX_JOBS);
  return { jobs, more: cursor !== null };
}

function Row({ group, onChoose }: { group: NameGroup; onChoose: (name: string) => void }) {
  const { title, name, jobs, unfinished, ended, failed, median, p95, newest } = group;
  const bad = failed > 0 && failed * 2 >= ended;
  return (
    <tr className={bad ? 'row-bad' : undefined}>
      <th scope="row">
        {name === null ? (
          <bdi>{title === null ? <span className="faint">(unnamed)</span> : visibleLine(title)}</bdi>
        ) : (
          <button type="button" className="link" onClick={() => onChoose(name)}>
            <bdi>{visibleLine(name)}</bdi>
          </button>
        )}
      </th>
      <td data-label="Jobs">{numberText(jobs)}</td>
      <td data-label="Unfinished">{unfinished === 0 ? <span className="faint">0</span> : numberText(unfinished)}</td>
      <td data-label="Failed">
        {failed === 0 ? (
          <span className="faint">0</span>
        ) : (
          <span className={bad ? 'loud' : 'state tone-red'}>
            {numberText(failed)} of {numberText(ended)}
          </span>
        )}
      </td>
      <td data-label="Median">{median === null ? '–' : durationText(median)}</td>
      <td data-label="p95">{p95 === null ? '–' : durationText(p95)}</td>
      <td data-label="Newest runs">
        <Cells jobs={newest} />
      </td>
      <td data-label="Submitted">
        <When at={newest[0]?.created_at ?? null} />
      </td>
    </tr>
  );
}

/** One cell per job, the newest on the right. */
function Cells({ jobs }: { jobs: readonly ListedJob[] }) {
  return (
    <ol className="coverage" aria-label="Newest runs">
      {jobs.toReversed().map(({ id, status }) => (
        <li key={id}>
          <Link
            href={`/jobs/${id}`}
            className={`cell tone-${STATE_TONES[status] ?? 'grey'}`}
            data-state={status}
            // Too small for a finger: the name leads to the same jobs, also with the keyboard.
            tabIndex={-1}
            title={`Job ${id}: ${status}`}
            aria-label={`Job ${id}: ${status}`}
          >
            <span aria-hidden="true">{STATE_ICONS[status]}</span>
          </Link>
        </li>
      ))}
    </ol>
  );
}
