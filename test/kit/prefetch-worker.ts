/**
 * A process whose worker has many prefetched jobs: `node prefetch-worker.ts <file> <jobs> [leaves]`. The first half of the
 * jobs do nothing, so that it prefetches; the others never end. Appends the id of every job that starts to `<file>.starts`.
 * Prints `stuck` once all slots are taken for good and a heartbeat has reported it. With `leaves` it prints `leaves` as soon
 * as the slots are taken, and begins to give back the other jobs.
 */

import { appendFileSync } from 'node:fs';
import { job, open } from '../../src/index.ts';

const [file = '', count = '0', leaves] = process.argv.slice(2);
const SLOTS = 4;
const workron = await open(file, { log: 'silent', lease: 3_000, heartbeat: 100 });
let stuck = 0;
const work = job('work', {
  run: (place: number, context) => {
    appendFileSync(`${file}.starts`, `${context.id}\n`);
    if (place < Number(count) / 2) return null;
    stuck += 1;
    if (stuck === SLOTS && leaves === undefined) setTimeout(() => console.log('stuck'), 1_000);
    if (stuck === SLOTS && leaves !== undefined) {
      console.log('leaves');
      void workron.stop();
    }
    return new Promise(() => undefined);
  },
});
await workron.submitAll(
  work,
  Array.from({ length: Number(count) }, (_, place) => place),
);
await workron.start({ jobs: [work], concurrency: SLOTS });
