/**
 * Submits until the file it is given can grow no more, and tells in one line of JSON how that went: the error, what of
 * the acknowledged jobs is there, what /ready would say, and (where a ballast file is given, which it deletes) whether it
 * can go on, and is ready.
 */

import { rmSync } from 'node:fs';
import { jobs } from '../../contract/kit/builders.ts';
import { forever, ids, submit } from '../../contract/kit/steps.ts';
import { isWorkronError } from '../../src/core/error.ts';
import { NODE_DEFAULTS, openNode } from '../../src/node/node.ts';
import { systemClock } from '../../src/ops/clock.ts';
import { silentLog } from '../../src/ops/log.ts';
import { openSqlite } from '../../src/store/sqlite/base/open.ts';

// Writing beyond the limit on a file's size is to fail, not to kill.
process.on('SIGXFSZ', () => {});

const [file = '', ballast] = process.argv.slice(2);
const store = await openSqlite({ file, clock: systemClock, log: silentLog });
const { scheduler } = await openNode({ store, settings: NODE_DEFAULTS, log: silentLog });
const stored: number[] = [];
const failure = await fill();
const there = ids(await store.read(stored, forever));
const listed = await store.count({}, 1_000_000, forever);
const ready = [await scheduler.ready(forever)];
let goesOn = false;
if (ballast !== undefined) {
  rmSync(ballast);
  ready.push(await scheduler.ready(forever));
  goesOn = (await submit(store, jobs(3))).length === 3;
}
await store[Symbol.asyncDispose]();
console.log(JSON.stringify({ failure, stored: stored.length, there: there.length, listed, goesOn, ready }));

async function fill(): Promise<string> {
  for (;;) {
    // Ten calls at once, so that several share a commit when it fails.
    const calls = await Promise.allSettled(
      Array.from({ length: 10 }, () => submit(store, jobs(2, { command: 'x'.repeat(5_000) }))),
    );
    for (const call of calls) if (call.status === 'fulfilled') stored.push(...ids(call.value));
    const failed = calls.find((call) => call.status === 'rejected');
    if (failed !== undefined) return isWorkronError(failed.reason) ? failed.reason.code : String(failed.reason);
  }
}
