/** Propagates ends and fills groups on the file it is given, a few at a time, and prints the number each time until none is left. */

import { writeSync } from 'node:fs';
import { forever } from '../../contract/kit/steps.ts';
import { systemClock } from '../../src/ops/clock.ts';
import { silentLog } from '../../src/ops/log.ts';
import { openSqlite } from '../../src/store/sqlite/base/open.ts';

const BATCH = 10;

const store = await openSqlite({ file: process.argv[2] ?? '', clock: systemClock, log: silentLog });
for (;;) {
  const count = (await store.cascade(BATCH, forever)) + (await store.expand(BATCH, forever));
  if (count === 0) break;
  writeSync(1, `${count}\n`);
}
await store[Symbol.asyncDispose]();
