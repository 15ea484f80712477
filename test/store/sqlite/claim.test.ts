import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aJob, anOffer } from '../../../contract/kit/builders.ts';
import { claim, ids, register, submit } from '../../../contract/kit/steps.ts';
import { openTestSqlite } from '../../kit/sqlite.ts';

test('sqlite: however the jobs of many lanes interleave, claims of any size take them in one order', async () => {
  await using opened = await openTestSqlite();
  const { store } = opened;
  // Runs of different lengths: lanes are read in pieces, and must be read on in the middle of a run.
  const wanted = Array.from({ length: 300 }, (_, index) =>
    aJob({
      queue: `q${[0, 0, 0, 1, 2, 0, 1][index % 7]}`,
      priority: (index * 7_919) % 5,
      resources: index % 11 === 0 ? { gpu: 1 } : {},
    }),
  );
  const stored = await submit(store, wanted);
  const inOrder = stored.toSorted((a, b) => b.priority - a.priority || a.id - b.id);

  const worker = await register(store);
  const taken: number[] = [];
  for (const limit of [1, 5, 17, 64, 200, 300]) {
    taken.push(...ids(await claim(store, worker.id, { limit, offer: anOffer({ free: { gpu: 300 } }) })));
  }
  assert.deepEqual(taken, ids(inOrder));
});
