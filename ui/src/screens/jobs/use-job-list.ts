import { useEffect, useMemo, useSyncExternalStore } from 'react';
import { concerns } from '../../data/about.ts';
import { client } from '../../data/client.ts';
import { useLiveStream } from '../../data/live-context.tsx';
import { useLive } from '../../data/use-live.ts';
import { JobPages, type ListState } from './job-pages.ts';
import { filterFrom, type JobQuery, searchFrom } from './job-query.ts';

const LOOK_EVERY_MS = 1_500;

export interface JobList {
  pages: JobPages;
  state: ListState;
  /** Adds the new jobs to the list. */
  refresh: () => void;
}

/** The list for a filter, kept fresh. While `settled` returns true, the user reads somewhere and rows must not move. */
export function useJobList(query: JobQuery, settled: () => boolean): JobList {
  const address = searchFrom(query).toString();
  const pages = useMemo(
    () => new JobPages((page, signal) => client.listJobs({ ...listQuery(address), ...page }, { signal })),
    [address],
  );
  const stream = useLiveStream();
  useEffect(() => {
    void pages.refresh(true);
    let timer: ReturnType<typeof setTimeout> | undefined;
    const stop = stream.onHints((hints) => {
      if (!concerns(hints, { topics: ['jobs'] })) return;
      timer ??= setTimeout(() => {
        timer = undefined;
        void pages.refresh(!settled());
      }, LOOK_EVERY_MS);
    });
    return () => {
      clearTimeout(timer);
      stop();
      pages.close();
    };
    // `settled` only reads the screen, so it is not a dependency.
  }, [pages, stream]);
  const state = useSyncExternalStore(pages.subscribe, pages.state);
  return { pages, state, refresh: () => void pages.refresh(true) };
}

/** The query of a list for the filter in an address. */
export function listQuery(address: string) {
  const query: JobQuery = Object.fromEntries(new URLSearchParams(address));
  return { ...filterFrom(query), ...(query.ids === undefined ? {} : { ids: query.ids }) };
}

/** Keeps the visible rows fresh without moving any. */
export function useFreshRows(pages: JobPages, ids: readonly string[]): void {
  const { data } = useLive({
    key: ['rows', ids.join()],
    enabled: ids.length > 0,
    about: { topics: ['jobs'], ids },
    fetch: (signal) => client.listJobs({ ids: ids.join(), limit: 200 }, { signal }),
  });
  useEffect(() => {
    if (data !== undefined) pages.update(data.items);
  }, [data, pages]);
}
