/** The same random calls on every store; the answers must be the same. Memory is the specification. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { openTestMemory } from '../../contract/kit/memory.ts';
import type { OpenStore } from '../../contract/kit/store.ts';
import { effort } from '../effort.ts';
import { openEmptiedPostgres } from '../kit/postgres.ts';
import { openEmptiedSqlite } from '../kit/sqlite.ts';
import { checkedAtEnd } from '../kit/stranded.ts';
import { sequencesOf, traceOf } from './model/trace.ts';

const STORES: [string, OpenStore][] = [
  ['memory', openTestMemory],
  ['sqlite', () => checkedAtEnd(openEmptiedSqlite())],
  ['postgres', () => checkedAtEnd(openEmptiedPostgres())],
];

test('model: random sequences of calls have the same answers on every store', async () => {
  await fc.assert(
    fc.asyncProperty(sequencesOf(effort.modelLength), async (actions) => {
      const traces = await Promise.all(STORES.map(([, open]) => traceOf(open, actions)));
      const [expected, ...others] = traces;
      for (const [index, trace] of others.entries()) {
        for (const [step, found] of trace.entries()) {
          assert.deepEqual(found, expected?.[step], `${STORES[index + 1]?.[0]} differs from memory at step ${step}`);
        }
      }
    }),
    { numRuns: effort.modelRuns, unbiased: true, interruptAfterTimeLimit: effort.modelMs },
  );
});
