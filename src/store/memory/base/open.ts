/** Jobs in this process's memory: for tests, for trying things out, and as the simplest specification of a store. */

import type { Clock } from '../../../core/clock.ts';
import { askAll } from '../../bind.ts';
import { LocalHints } from '../../hint.ts';
import type { Store } from '../../store.ts';
import { requireTerm } from '../cluster/leadership.ts';
import { giveTurnsTo } from '../jobs/turns.ts';
import { reads, writes } from './methods.ts';
import { createTables, type Tables } from './tables.ts';

type Method = (tables: Tables, ...args: readonly unknown[]) => unknown;
type Run = <T>(signal: AbortSignal, body: () => T) => Promise<T>;

export function openMemory({ clock }: { clock: Clock }): Store {
  let instant: number | null = null;
  const tables = createTables({
    now: () => instant ?? clock.now(),
    monotonicMs: () => clock.monotonicMs(),
    sleep: (ms, signal) => clock.sleep(ms, signal),
  });
  const hints = new LocalHints();

  /** A call runs within one turn of the event loop and at one instant, so no other call sees it half done. */
  async function run<T>(signal: AbortSignal, body: () => T): Promise<T> {
    signal.throwIfAborted();
    instant = clock.now();
    try {
      const answer = body();
      giveTurnsTo(tables, tables.newcomers);
      return answer;
    } finally {
      tables.newcomers.clear();
      if (!tables.changes.isEmpty) hints.announce(tables.changes);
      tables.changes.clear();
      instant = null;
    }
  }

  const storeBy = (write: Run): Store => ({
    driver: 'memory',
    location: 'memory',
    exclusive: true,
    leaseKeeper: null,
    transactional: null,
    deadlocks: () => 0,
    ...askAll(writes, (name, args, signal) => write(signal, () => (writes[name] as Method)(tables, ...args))),
    ...askAll(reads, (name, args, signal) => run(signal, () => (reads[name] as Method)(tables, ...args))),
    fenced: (fence) =>
      storeBy((signal, body) =>
        run(signal, () => {
          requireTerm(tables, fence());
          return body();
        }),
      ),
    subscribe: (listener) => hints.subscribe(listener),
    observe: (observer) => hints.observe(observer),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  });
  return storeBy(run);
}
