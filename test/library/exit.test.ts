/** A process that has stopped its Workron ends at once. */

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Child } from '../kit/child.ts';
import { openTestPostgres } from '../kit/postgres.ts';
import { aFolder } from '../kit/sqlite.ts';

const kit = new URL('../kit/undisposed-kit.ts', import.meta.url);
const completing = new URL('../kit/completing-app.ts', import.meta.url);

async function endsAtOnce(child: Child): Promise<void> {
  const { timers, lingeredMs } = JSON.parse((await child.line()) ?? '{}') as { timers: number; lingeredMs: number };
  assert.equal(timers, 0, 'no timer is left');
  assert.ok(lingeredMs < 1_000, `it lived on for ${lingeredMs} ms`);
}

for (const store of ['memory:', 'SQLite', 'PostgreSQL']) {
  test(`exit: a test kit that nobody has disposed of does not keep its process alive (${store})`, async () => {
    await using place = store === 'PostgreSQL' ? await openTestPostgres() : undefined;
    await using folder = await aFolder();
    const file = store === 'SQLite' ? join(folder.path, 'jobs.db') : store;
    await using child = Child.script(kit, ...(place === undefined ? [file] : [place.url, place.schema]));
    assert.equal(await child.line(), 'done');
    const line = await Promise.race([child.line(), sleep(10_000, 'still alive', { ref: false })]);
    assert.equal(line, undefined, 'its output has ended');
  });
}

test('exit: on SQLite, nothing is left of jobs that ended in a transaction or lost their lease', async () => {
  await using folder = await aFolder();
  await using child = Child.script(completing, join(folder.path, 'jobs.db'));
  await endsAtOnce(child);
});

test('exit: on PostgreSQL, nothing is left of jobs that ended in a transaction or lost their lease', async () => {
  await using place = await openTestPostgres();
  await using child = Child.script(completing, place.url, place.schema);
  await endsAtOnce(child);
});
