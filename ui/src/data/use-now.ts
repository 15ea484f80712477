import { useSyncExternalStore } from 'react';
import { serverNow } from './server-clock.ts';

const TICK_MS = 1_000;
const listeners = new Set<() => void>();
let now = serverNow();
let timer: ReturnType<typeof setInterval> | undefined;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    now = serverNow();
    for (const each of listeners) each();
  }, TICK_MS);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

function snapshot(): number {
  // The timer does not run without listeners, so the time is read again for the first one.
  if (listeners.size === 0 && Math.abs(serverNow() - now) >= TICK_MS) now = serverNow();
  return now;
}

/** The server's time, updated once a second by one timer for the whole page. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, snapshot);
}
