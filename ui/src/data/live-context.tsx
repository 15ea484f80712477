import { createContext, useContext, useSyncExternalStore } from 'react';
import type { LiveCounts } from '../../../src/api/event.ts';
import type { LiveState, LiveStream } from './live-stream.ts';

export const LiveContext = createContext<LiveStream | null>(null);

export function useLiveStream(): LiveStream {
  const stream = useContext(LiveContext);
  if (stream === null) throw new Error('There is no live stream around this component');
  return stream;
}

export function useLiveState(): LiveState {
  const stream = useLiveStream();
  return useSyncExternalStore(stream.onState, () => stream.state);
}

/** The number of unfinished jobs in each state, updated four times a second; `null` while it is unknown. */
export function useLiveCounts(): LiveCounts | null {
  const stream = useLiveStream();
  return useSyncExternalStore(stream.onState, () => stream.counts);
}
