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

/** How many unfinished jobs there are in each state, four times a second; `null` while nobody tells. */
export function useLiveCounts(): LiveCounts | null {
  const stream = useLiveStream();
  return useSyncExternalStore(stream.onState, () => stream.counts);
}
