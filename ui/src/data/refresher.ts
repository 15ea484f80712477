/** Fetches anew what is on the screen when hints say so: never twice at once, and no more often than it can be shown. */

import type { Query, QueryClient } from '@tanstack/react-query';
import { type About, concerns } from './about.ts';
import type { LiveStream } from './live-stream.ts';

const MIN_PAUSE_MS = 800;
/** A query that is slow to answer is asked less often. */
const PAUSE_FACTOR = 5;

interface Turn {
  timer: ReturnType<typeof setTimeout> | undefined;
  notBefore: number;
}

/** Keeps every query with an `about` in its meta fresh, as long as somebody looks at it. */
export function keepFresh(queries: QueryClient, stream: LiveStream): () => void {
  const turns = new Map<string, Turn>();
  const refresh = (query: Query): void => {
    const turn = turns.get(query.queryHash) ?? { timer: undefined, notBefore: 0 };
    turns.set(query.queryHash, turn);
    if (turn.timer !== undefined) return;
    turn.timer = setTimeout(() => void run(query, turn), Math.max(0, turn.notBefore - performance.now()));
  };
  const run = async (query: Query, turn: Turn): Promise<void> => {
    turn.timer = undefined;
    if (!query.isActive()) return void turns.delete(query.queryHash);
    // A fetch in flight may have read before the change.
    if (query.state.fetchStatus === 'fetching') {
      turn.timer = setTimeout(() => void run(query, turn), 100);
      return;
    }
    const startedAt = performance.now();
    await queries.refetchQueries({ queryKey: query.queryKey, exact: true, type: 'active' });
    const endedAt = performance.now();
    const { restMs = MIN_PAUSE_MS } = aboutOf(query) ?? {};
    turn.notBefore = endedAt + Math.max(restMs, PAUSE_FACTOR * (endedAt - startedAt));
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
