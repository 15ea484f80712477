import { useCallback, useRef, useState } from 'react';
import { useSearchParams } from 'wouter';
import { useMay } from '../../data/use-may.ts';
import { May } from '../../parts/may.tsx';
import { Empty, Loading, Problem } from '../../parts/notes.tsx';
import { PageHead, useTitle } from '../../parts/page-head.tsx';
import { When } from '../../parts/when.tsx';
import { BulkBar } from './bulk-bar.tsx';
import { Filters } from './filters.tsx';
import { JobPanel } from './job-panel.tsx';
import { bulkAsCli, bulkFilterFrom, filterAsCli, type JobQuery, queryFrom, searchFrom } from './job-query.ts';
import { JobTable } from './job-table.tsx';
import { NameTable } from './name-table.tsx';
import { SavedViews } from './saved-views.tsx';
import { Total } from './total.tsx';
import { useJobList } from './use-job-list.ts';

/** All jobs, with filters that are kept in the address. */
export function Jobs({ onNewJob }: { onNewJob: () => void }) {
  useTitle('Jobs');
  const [search, setSearch] = useSearchParams();
  const query = queryFrom(search);
  const grouped = search.get('by') === 'name';
  const { settled, setSettled } = useSettled();
  const { selected, select, clear } = useSelection();
  const { pages, state, refresh } = useJobList(query, () => settled.current || selected.size > 0);
  const change = useCallback(
    (next: JobQuery) => {
      clear();
      setSearch(withGrouping(searchFrom(next), grouped), { replace: true });
    },
    [setSearch, clear, grouped],
  );
  const group = (on: boolean): void => setSearch(withGrouping(searchFrom(query), on), { replace: true });
  const [opened, open] = useOpened();
  const mayChange = useMay()('operate');
  const ids = [...selected];
  return (
    <section className="screen screen-tall">
      <PageHead
        title="Jobs"
        sub={
          <>
            {!grouped && <Total key={search.toString()} state={state} query={query} />}
            <SavedViews query={query} onChange={change} />
            <Grouping grouped={grouped} onChange={group} />
          </>
        }
      >
        {mayChange && <JobActions query={query} ids={ids} onClear={clear} onDeleted={refresh} />}
      </PageHead>
      <Filters query={query} onChange={change} />
      {state.searchedBackTo !== null && <SearchedBackTo at={state.searchedBackTo} />}
      {state.error !== null && <Problem error={state.error} onRetry={refresh} />}
      {state.newer > 0 && !grouped && <NewJobsPill count={state.newer} onClick={refresh} />}
      {grouped ? (
        <NameTable query={query} onChoose={(name) => setSearch(searchFrom({ ...query, name }))} />
      ) : state.loading && state.length === 0 ? (
        <Loading />
      ) : state.length === 0 && state.error === null ? (
        <NoJobs narrowed={Object.keys(query).length > 0} onClear={() => change({})} onNewJob={onNewJob} />
      ) : (
        <div className={opened === null ? 'job-split' : 'job-split job-split-open'}>
          <JobTable
            pages={pages}
            state={state}
            selected={selected}
            opened={opened}
            onSelect={mayChange ? select : null}
            onOpen={open}
            onSettled={setSettled}
          />
          {opened !== null && <JobPanel key={opened} id={opened} onClose={() => open(null)} />}
        </div>
      )}
    </section>
  );
}

interface JobActionsProps {
  query: JobQuery;
  ids: readonly string[];
  onClear: () => void;
  onDeleted: () => void;
}

function JobActions({ query, ids, onClear, onDeleted }: JobActionsProps) {
  return (
    <BulkBar
      filter={ids.length > 0 ? { ids: [...ids] } : bulkFilterFrom(query)}
      chosen={ids.length}
      cli={(action) => (ids.length > 0 ? bulkAsCli(action, ids.join(' ')) : filterAsCli(action, query))}
      onClear={onClear}
      onDeleted={onDeleted}
    />
  );
}

function withGrouping(search: URLSearchParams, grouped: boolean): URLSearchParams {
  if (grouped) search.set('by', 'name');
  return search;
}

function Grouping({ grouped, onChange }: { grouped: boolean; onChange: (grouped: boolean) => void }) {
  return (
    <div className="views" role="group" aria-label="Show as">
      <button type="button" className="view" aria-pressed={!grouped} onClick={() => onChange(false)}>
        List
      </button>
      <button type="button" className="view" aria-pressed={grouped} onClick={() => onChange(true)}>
        By name
      </button>
    </div>
  );
}

/** Whether the user reads somewhere in the list, so that rows must not move. */
function useSettled() {
  const settled = useRef(false);
  const setSettled = useCallback((on: boolean) => void (settled.current = on), []);
  return { settled, setSettled };
}

/** The job in the side panel, kept in the address. */
function useOpened() {
  const [search, setSearch] = useSearchParams();
  const open = useCallback(
    (id: string | null) =>
      setSearch(
        (before) => {
          const next = new URLSearchParams(before);
          if (id === null) next.delete('open');
          else next.set('open', id);
          return next;
        },
        { replace: true },
      ),
    [setSearch],
  );
  return [search.get('open'), open] as const;
}

/** The ids of the selected jobs. */
function useSelection() {
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const select = useCallback((id: string, on: boolean) => {
    setSelected((before) => {
      const next = new Set(before);
      if (on) next.add(id);
      else next.delete(id);
      return next;
    });
  }, []);
  const clear = useCallback(() => setSelected(new Set()), []);
  return { selected, select, clear };
}

function SearchedBackTo({ at }: { at: string }) {
  return (
    <p className="faint small-text">
      The newest 100,000 jobs were searched, back to <When at={at} />. Retry, cancel and delete apply to all that match,
      older ones too.
    </p>
  );
}

function NewJobsPill({ count, onClick }: { count: number; onClick: () => void }) {
  return (
    <button type="button" className="new-pill" onClick={onClick}>
      {count >= 100 ? '100+' : count} new {count === 1 ? 'job' : 'jobs'} <span aria-hidden="true">↑</span>
    </button>
  );
}

interface NoJobsProps {
  narrowed: boolean;
  onClear: () => void;
  onNewJob: () => void;
}

function NoJobs({ narrowed, onClear, onNewJob }: NoJobsProps) {
  return (
    <Empty title={narrowed ? 'No job matches' : 'No jobs yet'}>
      {narrowed ? (
        <button type="button" onClick={onClear}>
          Clear the filters
        </button>
      ) : (
        <May scope="submit">
          <button type="button" className="primary" onClick={onNewJob}>
            Submit a job
          </button>
        </May>
      )}
    </Empty>
  );
}
