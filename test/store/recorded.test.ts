/** Recorded sequences of calls: every store must answer as the first memory store did, which was written without SQL. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openTestMemory } from '../../contract/kit/memory.ts';
import type { OpenStore } from '../../contract/kit/store.ts';
import { effort } from '../effort.ts';
import { openEmptiedPostgres } from '../kit/postgres.ts';
import { openEmptiedSqlite } from '../kit/sqlite.ts';
import { checkedAtEnd } from '../kit/stranded.ts';
import { comparable, firstDifference, readRecording } from './model/recorded.ts';
import { traceOf } from './model/trace.ts';

const STORES: [string, OpenStore, number][] = [
  ['memory', openTestMemory, effort.recordedInMemory],
  ['sqlite', () => checkedAtEnd(openEmptiedSqlite()), effort.recorded],
  ['postgres', () => checkedAtEnd(openEmptiedPostgres()), effort.recorded],
];

const { properties, sequences } = readRecording();
const known = new Set(properties);

/** Asserts that the store answers as recorded. */
async function replay(open: OpenStore, index: number): Promise<void> {
  const { actions, trace: expected } = sequences[index] as (typeof sequences)[number];
  const found = comparable(await traceOf(open, actions), known);
  if (typeof expected !== 'string') {
    for (const [step, entry] of found.entries()) assert.deepEqual(entry, expected[step], `step ${step} of ${index}`);
    return;
  }
  const step = firstDifference(found, expected);
  if (step === undefined) return;
  assert.fail(`sequence ${index} differs from what was recorded at step ${step}: ${JSON.stringify(found[step])}`);
}

for (const [name, open, count] of STORES) {
  test(`recorded: ${name} answers as recorded to ${count} sequences of calls`, async () => {
    assert.equal(sequences.length, 2_000);
    const indexes = sequences.keys().take(count);
    // While one sequence waits for the store, another goes on.
    await Promise.all(
      Array.from({ length: 4 }, async () => {
        for (const index of indexes) await replay(open, index);
      }),
    );
  });
}
