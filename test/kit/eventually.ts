import { setTimeout as sleep } from 'node:timers/promises';

const LOOK_MS = 20;

/** Looks until `look` answers with something; rethrows nothing, so that what is away for now may come back. */
export async function eventually<T>(look: () => Promise<T | undefined | false>): Promise<T> {
  for (;;) {
    const found = await look().catch(() => undefined);
    if (found !== undefined && found !== false) return found;
    await sleep(LOOK_MS);
  }
}
