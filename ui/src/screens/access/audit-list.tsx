import { Link, useSearchParams } from 'wouter';
import type { AuditEntry, AuditQueryInput } from '../../../../src/api/audit.ts';
import { decisionText } from '../../../../src/api/words/decision.ts';
import { client } from '../../data/client.ts';
import { useLive } from '../../data/use-live.ts';
import { DownloadLink } from '../../parts/download-link.tsx';
import { Listing } from '../../parts/listing.tsx';
import { Empty, Loading, Problem } from '../../parts/notes.tsx';
import { When } from '../../parts/when.tsx';
import { visibleLine } from '../../words/visible-text.ts';

const PAGE = 50;
const SPANS = [
  ['', 'any time'],
  ['1h', 'the last hour'],
  ['24h', 'the last day'],
  ['7d', 'the last week'],
  ['30d', 'the last 30 days'],
] as const;
const FILTERS = ['actor', 'subject', 'from', 'part_of'] as const;
/** Subjects that have a screen. */
const SCREENS: Readonly<Record<string, string>> = { job: 'jobs', workflow: 'workflows', schedule: 'schedules' };

type Filter = Pick<AuditQueryInput, (typeof FILTERS)[number]>;

/** Who decided what, newest first. The filters are kept in the address. */
export function AuditList() {
  const [search, setSearch] = useSearchParams();
  const filter: Filter = Object.fromEntries(
    FILTERS.map((name) => [name, search.get(name)?.trim() ?? '']).filter(([, value]) => value !== ''),
  );
  const cursor = search.get('cursor') ?? undefined;
  const list = useLive({
    key: ['audit', filter, cursor],
    about: { topics: [] },
    everyMs: 15_000,
    keep: true,
    fetch: (signal) => client.listAudit({ ...filter, limit: PAGE, ...(cursor && { cursor }) }, { signal }),
  });
  const change = (next: Filter & { cursor?: string }): void => {
    const kept = Object.entries({ tab: 'audit', ...filter, ...next }).filter(([, value]) => value !== '');
    setSearch(Object.fromEntries(kept), { replace: next.cursor === undefined });
  };
  const next = list.data?.next_cursor ?? null;
  return (
    <div className="stack">
      <AuditFilter filter={filter} onChange={change} />
      {list.error !== null && <Problem error={list.error} onRetry={() => void list.refetch()} />}
      {list.data === undefined ? (
        list.error === null && <Loading />
      ) : list.data.items.length === 0 ? (
        <Empty title={Object.keys(filter).length > 0 ? 'No decision matches' : 'No decisions yet'} />
      ) : (
        <AuditTable entries={list.data.items} />
      )}
      {next !== null && (
        <div>
          <button type="button" onClick={() => change({ cursor: next })}>
            Older →
          </button>
        </div>
      )}
    </div>
  );
}

function AuditFilter({ filter, onChange }: { filter: Filter; onChange: (next: Filter) => void }) {
  const query = new URLSearchParams(filter).toString();
  return (
    <search className="filter-line">
      <label className="field">
        <span className="visually-hidden">Who</span>
        <input
          type="search"
          placeholder="Who"
          value={filter.actor ?? ''}
          onChange={(event) => onChange({ actor: event.target.value })}
        />
      </label>
      <label className="field">
        <span className="visually-hidden">Part of the subject</span>
        <input
          type="search"
          data-search=""
          placeholder="Part of the subject, such as job/12"
          value={filter.subject ?? ''}
          onChange={(event) => onChange({ subject: event.target.value })}
        />
      </label>
      <label className="field">
        <span className="visually-hidden">When</span>
        <select value={filter.from ?? ''} onChange={(event) => onChange({ from: event.target.value })}>
          {SPANS.map(([span, title]) => (
            <option key={span} value={span}>
              {title}
            </option>
          ))}
        </select>
      </label>
      <span className="spacer" />
      <DownloadLink path="/audit/export" query={query === '' ? '' : `?${query}`} file="audit.jsonl">
        Export as JSON lines
      </DownloadLink>
    </search>
  );
}

function AuditTable({ entries }: { entries: readonly AuditEntry[] }) {
  return (
    <Listing title="Audit" columns={['When', 'Who', 'What', 'Result', 'From']}>
      {entries.map((entry) => (
        <tr key={entry.id}>
          <td data-label="When">
            <When at={entry.at} />
          </td>
          <th scope="row">
            <Link href={`/access?tab=audit&actor=${encodeURIComponent(entry.actor)}`}>
              <bdi>{visibleLine(entry.actor)}</bdi>
            </Link>
          </th>
          <td data-label="What">
            <What entry={entry} />
          </td>
          <td data-label="Result">
            <Result result={entry.result} />
          </td>
          <td data-label="From" className="faint">
            {visibleLine(entry.address)}
          </td>
        </tr>
      ))}
    </Listing>
  );
}

/** The decision, with a link to the screen of its subject, or to the jobs of a bulk action. */
function What({ entry }: { entry: AuditEntry }) {
  const [kind = '', ...rest] = (entry.subject ?? '').split('/');
  const screen = SCREENS[kind];
  const shown = <bdi>{visibleLine(decisionText(entry))}</bdi>;
  if (entry.details?.total !== undefined) {
    return <Link href={`/access?tab=audit&part_of=${entry.id}`}>{shown}</Link>;
  }
  return screen === undefined ? shown : <Link href={`/${screen}/${encodeURIComponent(rest.join('/'))}`}>{shown}</Link>;
}

function Result({ result }: { result: AuditEntry['result'] }) {
  if (result === null) return <span className="state tone-amber">unknown</span>;
  if (result === 'ok') return <span className="state tone-green">done</span>;
  const isFault = result === 'internal' || result === 'store_unavailable';
  return (
    <span className={`state tone-${isFault ? 'red' : 'amber'}`}>
      {isFault ? 'failed' : 'refused'} <span className="faint">{result}</span>
    </span>
  );
}
