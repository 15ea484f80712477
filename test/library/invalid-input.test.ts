/** An input that the schema of a worker refuses: its submitter may be newer than the worker. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import { job, open } from '../../src/index.ts';
import { openTestKit } from '../../src/testing.ts';
import { eventually } from '../kit/eventually.ts';
import { aFolder } from '../kit/sqlite.ts';
import { inThread } from './isolated-jobs.ts';

const old = job('grow', { input: z.object({ n: z.number(), unit: z.literal('cm') }), run: ({ n }) => n });
/** The same job in the next version of the program. */
const next = job('grow', { run: ({ n }: { n: string }) => `${n} grown` });

test('input: what an old worker refuses goes back without a failure, for another worker', async () => {
  await using kit = await openTestKit({ jobs: [old] });
  const handle = await kit.workron.submit(next, { n: 'ten' });
  const first = await kit.runNext();
  assert.deepEqual([first?.status, first?.failures, first?.snoozes], ['scheduled', 0, 1]);
  assert.match(
    first?.error ?? '',
    /^handed back for another worker: the input of grow is not valid: \/n: .*; \/unit: /,
  );
  assert.equal(await kit.runNext(), null, 'not at once');
  await handle.cancel();
});

test('input: what no worker accepts fails in the end; a job that may not start again fails at once', async () => {
  await using kit = await openTestKit({ jobs: [old] });
  await kit.workron.submit(next, { n: 'ten' });
  const seen: string[] = [];
  for (const delay of ['0s', '5s', '10s', '20s', '40s', '80s']) {
    await kit.advance(delay);
    const [ran, ...others] = await kit.runAll();
    assert.equal(others.length, 0);
    seen.push(`${ran?.status} ${ran?.reason}`);
  }
  assert.deepEqual(seen, [...Array<string>(5).fill('scheduled null'), 'failed fatal']);
  await kit.workron.submit(next, { n: 'ten' }, { rerun: 'never' });
  const once = await kit.runNext();
  assert.deepEqual([once?.status, once?.reason], ['failed', 'fatal']);
  assert.match(once?.error ?? '', /the input of grow is not valid/);
});

test('input: an isolated job hands back what its thread refuses', async () => {
  await using folder = await aFolder();
  await using workron = await open(`${folder.path}/workron.db`, { log: 'silent' });
  await workron.start({ jobs: [inThread] });
  const handle = await workron.submit(job('in-thread'), { n: 7 });
  const { status, error } = await eventually(async () => {
    const seen = await handle.job();
    return seen.snoozes > 0 && seen;
  });
  assert.equal(status, 'scheduled');
  assert.match(error ?? '', /handed back for another worker: the input of in-thread is not valid: \/n: /);
});
