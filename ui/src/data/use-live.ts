import { keepPreviousData, type UseQueryResult, useQuery } from '@tanstack/react-query';
import type { About } from './about.ts';

export interface LiveQuery<T> {
  key: readonly unknown[];
  fetch: (signal: AbortSignal) => Promise<T>;
  about: About;
  enabled?: boolean;
  /** Shows the data of the previous key until the new reply arrives. */
  keep?: boolean;
  /** The interval of fetches without a hint. */
  everyMs?: number;
}

/** Fetches data and keeps it fresh while it is shown. */
export function useLive<T>({
  key,
  fetch,
  about,
  enabled = true,
  keep = false,
  everyMs,
}: LiveQuery<T>): UseQueryResult<T> {
  return useQuery({
    queryKey: key,
    queryFn: ({ signal }) => fetch(signal),
    meta: { about },
    enabled,
    ...(keep ? { placeholderData: keepPreviousData } : {}),
    ...(everyMs === undefined ? {} : { refetchInterval: everyMs }),
  });
}
