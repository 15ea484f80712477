import { setTimeout as sleep } from 'node:timers/promises';

const LOOK_MS = 20;
/** Far beyond what anything takes: a test that waits in vain should say so, not hang. */
const GIVE_UP_MS = 60_000;

/** Looks until `look` answers with something; what it throws counts as nothing, as what is away for now may come back. */
export async function eventually<T>(look: () => Promise<T | undefined | false>): Promise<T> {
  const until = performance.now() + GIVE_UP_MS;
  let problem: unknown;
  while (performance.now() < until) {
    try {
      const found = await look();
      if (found !== undefined && found !== false) return found;
      problem = undefined;
    } catch (error) {
      problem = error;
    }
    await sleep(LOOK_MS);
  }
  throw new Error('what was waited for did not come', { cause: problem });
}
