/** Submits, claims and settles without end on the file it is given, and prints what was acknowledged. */

import { jobs } from '../../contract/kit/builders.ts';
import { claim, forever, register, submit, success } from '../../contract/kit/steps.ts';
import { systemClock } from '../../src/ops/clock.ts';
import { silentLog } from '../../src/ops/log.ts';
import { openSqlite } from '../../src/store/sqlite/base/open.ts';

const store = await openSqlite({ file: process.argv[2] ?? '', clock: systemClock, log: silentLog });
const worker = await register(store);
await say('open');

/** Waits while no one reads the output. */
async function say(line: string): Promise<void> {
  await new Promise<void>((resolve) => process.stdout.write(`${line}\n`, () => resolve()));
}

async function submitOn(): Promise<never> {
  for (;;) for (const { id } of await submit(store, jobs(3))) await say(`stored ${id}`);
}

async function settleOn(): Promise<never> {
  for (;;) {
    const claimed = await claim(store, worker.id, { limit: 2 });
    const successes = claimed.map((job) => success({ job, workerId: worker.id }));
    const settled = await store.settle(successes, forever);
    for (const [index, { result }] of settled.entries()) await say(`${result} ${claimed[index]?.id}`);
  }
}

await Promise.all([submitOn(), submitOn(), settleOn()]);
