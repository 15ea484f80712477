import { useSyncExternalStore } from 'react';

const media = matchMedia('(max-width: 720px)');

function subscribe(listener: () => void): () => void {
  media.addEventListener('change', listener);
  return () => media.removeEventListener('change', listener);
}

/** Whether there is only room for a phone's rows. */
export function useNarrow(): boolean {
  return useSyncExternalStore(subscribe, () => media.matches);
}
