import { keepPreviousData, type UseQueryResult, useQuery } from '@tanstack/react-query';
import type { About } from './about.ts';

export interface LiveQuery<T> {
  key: readonly unknown[];
  fetch: (signal: AbortSignal) => Promise<T>;
  about: About;
  enabled?: boolean;
  /** What was shown under the former key stays until the new answer is there. */
  keep?: boolean;
  /** Fetched so often even without a hint. */
  everyMs?: number;
}

/** Data that stays true while it is shown. */
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
