/** Prints the bytes of a pending job in the memory store. `node --expose-gc memory-store.ts JOBS` */

import { systemClock } from '../../src/ops/clock.ts';
import { openMemory } from '../../src/store/memory/open.ts';
import { submitMany } from './drain.ts';

const jobs = Number(process.argv[2]);
const { gc } = globalThis;
if (gc === undefined) throw new Error('run it with --expose-gc');

/** The jobs are in the memory of SQLite, which is not part of the heap. */
function resident(collect: () => void): number {
  collect();
  return process.memoryUsage().rss;
}

await using store = openMemory({ clock: systemClock });
await submitMany(store, 1_000, () => ({}));
const before = resident(() => {
  gc();
});
await submitMany(store, jobs, () => ({}));
console.log(
  (resident(() => {
    gc();
  }) -
    before) /
    jobs,
);
