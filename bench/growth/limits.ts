/** The cost of a claim on PostgreSQL while jobs of a full key wait, in pages: when they are parked, and while they are. */

import { CLAIMS, claimOthers, FULL_KEYS, fillKey, MAX_GROWTH, parkAll, submitOthers } from './full-key.ts';
import type { Grounds } from './grounds.ts';
import { printHead, printRow, type Section, verdict, whole } from './section.ts';
import { workOf } from './work.ts';

export const limits: Section = {
  name: 'limits',
  title: 'Cost of a claim against the jobs that wait for a full key',
  async run(grounds) {
    printHead(['on PostgreSQL', 'from → to', 'pages per claim', 'last to first', 'goal', 'rows per claim']);
    const [few, many] = [grounds.sized(FULL_KEYS.few), grounds.sized(FULL_KEYS.many)];
    const [first, last] = [await measure(grounds, few), await measure(grounds, many)];
    for (const [title, what] of [
      ['while they are being parked', 'parking'],
      ['when they are parked', 'parked'],
    ] as const) {
      const ratio = last[what].allPages / first[what].allPages;
      printRow([
        title,
        `${whole(few)} → ${whole(many)}`,
        `${whole(first[what].allPages)} → ${whole(last[what].allPages)}`,
        ratio.toFixed(2),
        verdict(ratio, MAX_GROWTH),
        `${whole(first[what].rows)} → ${whole(last[what].rows)}`,
      ]);
    }
  },
};

async function measure(grounds: Grounds, count: number) {
  const schema = `full_key_${count}`;
  const open = () => grounds.open(schema);
  let workerId = 0;
  {
    await using store = await open();
    workerId = await fillKey(store, count);
  }
  const tidy = () => grounds.client.query(`vacuum analyze "${schema}".live, "${schema}".job`);
  await tidy();
  const claims = async (expected: number) => {
    await using store = await open();
    for (let claim = 0; claim < CLAIMS; claim += 1) {
      const claimed = await claimOthers(store, workerId);
      if (claimed !== expected) throw new Error(`expected ${expected} jobs, got ${claimed}`);
    }
  };
  const parking = await workOf(grounds.client, { schema, jobs: CLAIMS }, () => claims(0));
  {
    await using store = await open();
    await parkAll(store, workerId);
    await submitOthers(store, 1);
  }
  await tidy();
  const parked = await workOf(grounds.client, { schema, jobs: CLAIMS }, () => claims(10));
  return { parking, parked };
}
