import { QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { useEffect, useMemo, useState } from 'react';
import { Router } from 'wouter';
import { LiveContext } from './data/live-context.tsx';
import { LiveStream } from './data/live-stream.ts';
import { PAGE } from './data/place.ts';
import { keepFresh } from './data/refresher.ts';
import { ToastProvider } from './parts/toasts.tsx';
import { Login } from './screens/login.tsx';
import { Shell } from './shell/shell.tsx';
import { isUnauthorized } from './words/message-of.ts';

/** The whole page: the login form, or the shell with its screens on one live stream. */
export function App() {
  const [out, setOut] = useState(false);
  return (
    <ToastProvider>
      {out ? <Login onIn={() => setOut(false)} /> : <Live onUnauthorized={() => setOut(true)} />}
    </ToastProvider>
  );
}

function Live({ onUnauthorized }: { onUnauthorized: () => void }) {
  const { queries, stream } = useMemo(
    () => ({ queries: queryClient(onUnauthorized), stream: new LiveStream(onUnauthorized) }),
    // One stream for the life of this component, even if the callback changes.
    [],
  );
  useEffect(() => {
    const stopStream = stream.start();
    const stopRefreshing = keepFresh(queries, stream);
    return () => {
      stopRefreshing();
      stopStream();
    };
  }, [queries, stream]);
  return (
    <QueryClientProvider client={queries}>
      <LiveContext value={stream}>
        <Router base={PAGE}>
          <Shell onLogOut={onUnauthorized} />
        </Router>
      </LiveContext>
    </QueryClientProvider>
  );
}

function queryClient(onUnauthorized: () => void): QueryClient {
  return new QueryClient({
    queryCache: new QueryCache({
      onError: (error) => {
        if (isUnauthorized(error)) onUnauthorized();
      },
    }),
    defaultOptions: {
      queries: {
        // Hints trigger fetches; a failed query is fetched again with the next hint.
        staleTime: 30_000,
        refetchOnWindowFocus: false,
        refetchOnReconnect: false,
        retry: (failures, error) => !isUnauthorized(error) && failures < 1,
        retryDelay: 500,
        networkMode: 'always',
      },
      mutations: { networkMode: 'always' },
    },
  });
}
