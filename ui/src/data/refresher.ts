/** Fetches shown data again after hints: never twice at once, and no more often than it can be shown. */

import type { Query, QueryClient } from '@tanstack/react-query';
import { type About, concerns } from './about.ts';
import type { LiveStream } from './live-stream.ts';

const MIN_PAUSE_MS = 800;
/** The pause after a fetch, as a multiple of its duration: slow queries are fetched less often. */
const PAUSE_FACTOR = 5;

interface Refresh {
  timer: ReturnType<typeof setTimeout> | undefined;
  notBefore: number;
}

/** Keeps every query with an `about` in its meta fresh while it is shown. */
export function keepFresh(queries: QueryClient, stream: LiveStream): () => void {
  const planned = new Map<string, Refresh>();
  const refresh = (query: Query): void => {
    const next = planned.get(query.queryHash) ?? { timer: undefined, notBefore: 0 };
    planned.set(query.queryHash, next);
    if (next.timer !== undefined) return;
    next.timer = setTimeout(() => void run(query, next), Math.max(0, next.notBefore - performance.now()));
  };
  const run = async (query: Query, next: Refresh): Promise<void> => {
    next.timer = undefined;
    if (!query.isActive()) return void planned.delete(query.queryHash);
    // A fetch in flight may have read its data before the change.
    if (query.state.fetchStatus === 'fetching') {
      next.timer = setTimeout(() => void run(query, next), 100);
      return;
    }
    const startedAt = performance.now();
    await queries.refetchQueries({ queryKey: query.queryKey, exact: true, type: 'active' });
    const endedAt = performance.now();
    const { restMs = MIN_PAUSE_MS } = aboutOf(query) ?? {};
    next.notBefore = endedAt + Math.max(restMs, PAUSE_FACTOR * (endedAt - startedAt));
  };
  return stream.onHints((hints) => {
    for (const query of queries.getQueryCache().findAll({ type: 'active' })) {
      const about = aboutOf(query);
      if (about !== undefined && concerns(hints, about)) refresh(query);
    }
  });
}

function aboutOf(query: Query): About | undefined {
  return query.meta?.['about'] as About | undefined;
}
