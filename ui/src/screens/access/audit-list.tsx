import { Link, useSearchParams } from 'wouter';
import type { AuditEntry, AuditQueryInput } from '../../../../src/api/audit.ts';
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
const FILTERS = ['actor', 'path', 'from'] as const;
/** Paths of the API that are screens, too. */
const SCREENS = /^\/(jobs|workflows|schedules)\/(?!bulk|apply)[^/]+/;

type Filter = Pick<AuditQueryInput, 'actor' | 'path' | 'from'>;

/** Who changed what, newest first. The filters are kept in the address. */
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
    fetch: (signal) => client.access.audit({ ...filter, limit: PAGE, ...(cursor && { cursor }) }, { signal }),
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
        <Empty title={Object.keys(filter).length > 0 ? 'No change matches' : 'No changes yet'} />
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
        <span className="visually-hidden">Part of the path</span>
        <input
          type="search"
          data-search=""
          placeholder="Part of the path, such as /jobs/12"
          value={filter.path ?? ''}
          onChange={(event) => onChange({ path: event.target.value })}
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
            <Result status={entry.status} />
          </td>
          <td data-label="From" className="faint">
            {visibleLine(entry.address)}
          </td>
        </tr>
      ))}
    </Listing>
  );
}

/** The request, with a link to the screen of what it changed. */
function What({ entry: { action, path } }: { entry: AuditEntry }) {
  const screen = SCREENS.exec(path)?.[0];
  const shown = <bdi>{visibleLine(path)}</bdi>;
  return (
    <>
      <span className="faint">{action.split(' ', 1)[0]}</span>{' '}
      {screen === undefined ? shown : <Link href={screen}>{shown}</Link>}
    </>
  );
}

function Result({ status }: { status: number | null }) {
  if (status === null) return <span className="state tone-amber">unknown</span>;
  const [tone, word] = status < 400 ? ['green', 'done'] : status < 500 ? ['amber', 'refused'] : ['red', 'failed'];
  return (
    <span className={`state tone-${tone}`}>
      {word} <span className="faint">{status}</span>
    </span>
  );
}
