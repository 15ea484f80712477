import { useVirtualizer } from '@tanstack/react-virtual';
import { type RefObject, useEffect, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import type { Job } from '../../../../src/api/job.ts';
import { useKeys } from '../../parts/keyboard.ts';
import { useWorkerNames } from '../job/worker-name.tsx';
import type { JobPages, ListState } from './job-pages.ts';
import { JobRow } from './job-row.tsx';
import { useFreshRows } from './use-job-list.ts';
import { useNarrow } from './use-narrow.ts';

export interface JobTableProps {
  pages: JobPages;
  state: ListState;
  selected: ReadonlySet<string>;
  /** The job in the side panel. */
  opened: string | null;
  /** `null` if the user may do nothing with selected jobs. */
  onSelect: ((id: string, on: boolean) => void) | null;
  onOpen: (id: string | null) => void;
  /** Called with true when the user reads somewhere in the list, so that rows must not move. */
  onSettled: (settled: boolean) => void;
}

const COLUMNS = ['', 'State', 'Job', 'Queue', 'Tries', 'Took', 'Submitted', 'From', 'Worker'] as const;

/** A table of any length that renders the visible rows only. */
export function JobTable({ pages, state, selected, opened, onSelect, onOpen, onSettled }: JobTableProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const narrow = useNarrow();
  const virtual = useVirtualizer({
    count: state.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => (narrow ? 58 : 38),
    overscan: 12,
  });
  useEffect(() => virtual.measure(), [narrow, virtual]);
  const rows = virtual.getVirtualItems();
  const indexes = rows.map(({ index }) => index);
  const jobs = useVisibleJobs(pages, indexes, state.version);
  const workers = useWorkerNames();
  const cursor = useCursor({
    length: state.length,
    at: (index) => pages.at(index),
    onMove: (index) => {
      virtual.scrollToIndex(index);
      onSettled(true);
    },
    onToggle: (id) => onSelect?.(id, !selected.has(id)),
    onOpen,
  });
  return (
    <div className="job-table" role="table" aria-label="Jobs" aria-rowcount={state.complete ? state.length + 1 : -1}>
      <JobTableHead jobs={jobs} selected={selected} onSelect={onSelect} gutter={useScrollbar(scroller)} />
      <div
        ref={scroller}
        className="job-scroll"
        role="rowgroup"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls
        tabIndex={0}
        aria-label="Rows"
        onScroll={(event) => onSettled(event.currentTarget.scrollTop > 10)}
        onPointerEnter={() => onSettled(true)}
        onPointerLeave={() => onSettled((scroller.current?.scrollTop ?? 0) > 10)}
      >
        <div className="job-space" style={{ height: virtual.getTotalSize() }}>
          {rows.map(({ index, start, size }, place) => (
            <JobRow
              key={index}
              job={jobs[place]}
              index={index}
              top={start}
              height={size}
              selected={selected.has(jobs[place]?.id ?? '')}
              current={index === cursor || (opened !== null && jobs[place]?.id === opened)}
              worker={workers.get(jobs[place]?.worker_id ?? '')}
              onSelect={onSelect}
              onOpen={onOpen}
            />
          ))}
        </div>
      </div>
    </div>
  );
}

/** The width of the scrollbar of an element, 0 if it has none. */
function useScrollbar(scroller: RefObject<HTMLDivElement | null>): number {
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    const observer = new ResizeObserver(() => setWidth(element.offsetWidth - element.clientWidth));
    observer.observe(element);
    for (const child of element.children) observer.observe(child);
    return () => observer.disconnect();
  }, [scroller]);
  return width;
}

/** The jobs at the visible rows: loads their pages and keeps jobs that may still change fresh. */
function useVisibleJobs(pages: JobPages, indexes: readonly number[], version: number): (Job | undefined)[] {
  const first = indexes[0] ?? 0;
  const last = indexes.at(-1) ?? 0;
  useEffect(() => void pages.show(first, last), [pages, first, last, version]);
  const jobs = indexes.map((index) => pages.at(index));
  useFreshRows(
    pages,
    jobs.flatMap((job) => (job === undefined || isOld(job) ? [] : [job.id])),
  );
  return jobs;
}

interface JobTableHeadProps extends Pick<JobTableProps, 'selected' | 'onSelect'> {
  /** The visible ones. */
  jobs: readonly (Job | undefined)[];
  /** The width of the scrollbar beside the rows. */
  gutter: number;
}

function JobTableHead({ jobs, selected, onSelect, gutter }: JobTableHeadProps) {
  const shown = jobs.filter((job) => job !== undefined);
  return (
    <div role="rowgroup" className="job-head" style={{ paddingRight: gutter }}>
      <div role="row" className="job-row">
        {COLUMNS.map((title, index) => (
          <div key={title} role="columnheader" className={`col-${index}`}>
            {title !== '' ? (
              title
            ) : onSelect === null ? null : (
              <input
                type="checkbox"
                aria-label="Select all visible jobs"
                checked={shown.length > 0 && shown.every(({ id }) => selected.has(id))}
                onChange={(event) => {
                  for (const { id } of shown) onSelect(id, event.target.checked);
                }}
              />
            )}
          </div>
        ))}
      </div>
    </div>
  );
}

interface CursorInput {
  length: number;
  at: (index: number) => Job | undefined;
  onMove: (index: number) => void;
  onToggle: (id: string) => void;
  onOpen: (id: string | null) => void;
}

/** The row that the keyboard has chosen: j and k move, x selects, o opens the panel, Enter the job. Null until a key was pressed. */
function useCursor({ length, at, onMove, onToggle, onOpen }: CursorInput): number | null {
  const [cursor, setCursor] = useState<number | null>(null);
  const [, go] = useLocation();
  const move = (by: number): void => {
    if (length === 0) return;
    const next = Math.max(0, Math.min(length - 1, (cursor ?? -1) + by));
    setCursor(next);
    onMove(next);
  };
  const current = cursor === null ? undefined : at(cursor);
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    o: () => current !== undefined && onOpen(current.id),
    Escape: () => onOpen(null),
    x: () => current !== undefined && onToggle(current.id),
    Enter: () => {
      if (current !== undefined) go(`/jobs/${current.id}`);
      else if (document.activeElement instanceof HTMLElement) document.activeElement.click();
    },
  });
  return cursor;
}

/** Ended more than a day ago. It may still be retried, but is not kept fresh on the screen. */
function isOld(job: Job): boolean {
  return job.done_at !== null && Date.now() - Date.parse(job.done_at) > 86_400_000;
}
